//! `ragmaker-file-sync` from outside.
#![cfg(unix)]

use std::{fs, io::Write, os::unix::fs::symlink, path::Path, time::SystemTime};

use ragmaker_testkit::{HANDBOOK, LETTER, Tree};
use serde_json::{Value, json};
use zip::{ZipWriter, write::SimpleFileOptions};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-file-sync");

const SYNC: [&str; 4] = ["--source-dir", "docs", "--kb-root", "kb"];

fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(vec![]));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The pages of an answer with this verdict, by the ends of their addresses.
fn pages(answer: &Value, verdict: &str) -> Vec<String> {
    let pages = answer["pages"].as_array().unwrap().iter().filter(|page| page["verdict"] == verdict);
    pages.map(|page| page["url"].as_str().unwrap().rsplit_once("/docs/").unwrap().1.to_owned()).collect()
}

/// The text of each document, and when it was written.
fn documents(kb: &Path) -> Vec<(String, SystemTime)> {
    let Ok(files) = fs::read_dir(kb.join("cache/documents")) else { return vec![] };
    let mut found: Vec<_> = files
        .map(|entry| entry.unwrap())
        .map(|entry| (fs::read_to_string(entry.path()).unwrap(), entry.metadata().unwrap().modified().unwrap()))
        .collect();
    found.sort();
    found
}

fn text_of(tree: &Tree, needle: &str) -> String {
    let found = documents(&tree.root.join("kb")).into_iter().map(|(text, _)| text).find(|text| text.contains(needle));
    found.unwrap_or_else(|| panic!("no document has {needle}"))
}

#[test]
fn documents_of_every_kind_are_saved() {
    let tree = Tree::new(TOOL);
    let office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0";
    let odt = format!(
        "<office:document-content xmlns:office=\"{office}\" xmlns:text=\"t\"><office:body><office:text><text:h text:outline-level=\"2\">Open</text:h><text:p>tide odt</text:p></office:text></office:body></office:document-content>"
    );
    let files: [(&str, &[u8]); 14] = [
        ("a.html", b"<title>Hyper</title><main><h1>Hyper</h1><p>tide html of many words"),
        ("a.md", b"---\ntitle: Mark\n---\n\ntide md"),
        ("sub/a.md", b"# Sub\n\ntide sub"),
        ("b.mdx", b"import A from 'a'\n\n# Mdx\n\n<A>tide mdx</A>"),
        ("c.rst", b"Rest\n====\n\ntide ``rst``"),
        ("d.adoc", b"= Adoc\n\ntide *adoc*"),
        ("e.ipynb", b"{\"cells\": [{\"cell_type\": \"markdown\", \"source\": \"# Note\\n\\ntide ipynb\"}]}"),
        ("f.csv", b"name;height\ntide csv;3\n"),
        ("g.eml", b"From: a@x.example\r\nSubject: Mail\r\n\r\ntide eml"),
        ("h.txt", b"tide txt"),
        ("README", b"tide readme"),
        ("i.docx", LETTER),
        ("j.pdf", HANDBOOK),
        (
            "k.odt",
            &archive(&[("mimetype", b"application/vnd.oasis.opendocument.text"), ("content.xml", odt.as_bytes())]),
        ),
    ];
    for (name, content) in files {
        tree.write(&format!("docs/{name}"), content);
    }
    tree.write("docs/picture.png", "no document");
    tree.write("docs/code.rs", "fn main() {}");
    tree.write("docs/.hidden.md", "hidden");
    tree.write("docs/ignored.md", "ignored");
    tree.write(".gitignore", "ignored.md\n");
    let answer = tree.run(&SYNC);
    assert_eq!(answer["counts"]["added"], 14, "{answer:#}");
    assert_eq!(answer["counts"]["failed"], 0);
    assert_eq!(answer["skipped"].as_array().unwrap().len(), 2, "{answer:#}");
    assert_eq!(answer["skipped"][0]["files"], 1);
    for (name, needle) in [
        ("Hyper", "tide html"),
        ("Mark", "tide md"),
        ("Mdx", "tide mdx"),
        ("Rest", "tide `rst`"),
        ("Adoc", "tide **adoc**"),
        ("Note", "tide ipynb"),
        ("f", "| tide csv | 3 |"),
        ("Mail", "tide eml"),
        ("h", "tide txt"),
        ("README", "tide readme"),
        ("i", "Spring tide at Brest"),
        ("k", "## Open"),
    ] {
        let text = text_of(&tree, needle);
        let expected = if name == "k" { "Open" } else { name };
        assert!(text.contains(&format!("title: \"{expected}\"\n")), "{name}: {text}");
        assert!(text.starts_with("---\nsource_url: \"file:///"), "{text}");
    }
    let listed: Value = serde_json::from_slice(&fs::read(tree.root.join("kb/cache/catalog.json")).unwrap()).unwrap();
    assert_eq!(listed["documents"].as_array().unwrap().len(), 14);
    assert_eq!(listed["documents"][0]["source"]["kind"], "file");
    let report = fs::read_to_string(answer["report_file"].as_str().unwrap()).unwrap();
    assert_eq!(report.lines().count(), 14);

    // Source files are code where they are asked for.
    let answer = tree.run(&[&SYNC[..], &["--include", "*.rs"]].concat());
    assert_eq!((pages(&answer, "added"), &answer["counts"]["gone"]), (vec!["code.rs".to_owned()], &json!(0)));
    assert!(text_of(&tree, "fn main").contains("```rust\nfn main() {}\n```"));
}

#[test]
fn only_what_changed_is_written_again() {
    let tree = Tree::new(TOOL);
    for name in ["keep.md", "edit.md", "delete.md", "move.md", "frame.html"] {
        tree.write(&format!("docs/{name}"), format!("<title>T</title><h1>{name}</h1><p>tide {name}"));
    }
    tree.run(&SYNC);
    let before = documents(&tree.root.join("kb"));
    let catalog = tree.root.join("kb/cache/catalog.json");
    assert_eq!(serde_json::from_slice::<Value>(&fs::read(&catalog).unwrap()).unwrap()["src_type"], "local");
    let answer = tree.run(&SYNC);
    assert_eq!((&answer["counts"]["unchanged"], &answer["pages"]), (&json!(5), &json!([])));
    assert_eq!(documents(&tree.root.join("kb")), before);
    // A summary that was written of a text that changes is marked.
    let text = fs::read_to_string(&catalog).unwrap().replace("\"title\": \"", "\"summary\": \"s\", \"title\": \"");
    fs::write(&catalog, text).unwrap();

    tree.write("docs/edit.md", "<h1>edit.md</h1><p>another");
    tree.write("docs/frame.html", "<title>T</title><nav><a href=/>Home</a></nav><h1>frame.html</h1><p>tide frame.html");
    fs::remove_file(tree.root.join("docs/delete.md")).unwrap();
    fs::create_dir(tree.root.join("docs/sub")).unwrap();
    fs::rename(tree.root.join("docs/move.md"), tree.root.join("docs/sub/moved.md")).unwrap();
    tree.write("docs/new.md", "new");
    let answer = tree.run(&SYNC);
    assert_eq!(pages(&answer, "changed"), ["edit.md"]);
    assert_eq!(pages(&answer, "gone"), ["delete.md"]);
    assert_eq!(pages(&answer, "moved"), ["move.md"]);
    let moved = answer["pages"].as_array().unwrap().iter().find(|page| page["verdict"] == "moved").unwrap();
    assert!(moved["moved_to"].as_str().unwrap().ends_with("/docs/sub/moved.md"), "{moved}");
    assert_eq!(pages(&answer, "added"), ["new.md"]);
    assert_eq!(answer["counts"]["unchanged"], 2);
    let listed: Value = serde_json::from_slice(&fs::read(&catalog).unwrap()).unwrap();
    let listed = listed["documents"].as_array().unwrap();
    let stale: Vec<&str> =
        listed.iter().filter(|one| one["status"] == "changed").filter_map(|one| one["url"].as_str()).collect();
    assert_eq!((listed.len(), stale.len()), (6, 1), "{listed:#?}");
    assert!(stale[0].ends_with("/docs/edit.md"));
    // A document that somebody removed is written again.
    let lost =
        listed.iter().find(|one| one["url"].as_str().unwrap().ends_with("keep.md")).unwrap()["path"].as_str().unwrap();
    fs::remove_file(tree.root.join("kb/cache").join(lost)).unwrap();
    assert_eq!(pages(&tree.run(&SYNC), "changed"), ["keep.md"]);
}

#[test]
fn malicious_files_are_rejected() {
    let tree = Tree::new(TOOL);
    let word = |body: &str| archive(&[("word/document.xml", body.as_bytes())]);
    let entity = "<!DOCTYPE d [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><w:document xmlns:w=\"w\"><w:body><w:p><w:r><w:t>&e;</w:t></w:r></w:p></w:body></w:document>";
    tree.write("docs/entity.docx", word(entity));
    tree.write("docs/bomb.docx", archive(&[("word/document.xml", &vec![b' '; 80 << 20])]));
    tree.write("docs/broken.pdf", "%PDF-1.7 broken");
    tree.write("docs/picture.docx", "\u{89}PNG");
    tree.write("docs/empty.md", "\n\n");
    tree.write("docs/old.html", "<meta http-equiv=refresh content='0; url=new/page.html'><p>Redirecting");
    tree.write("docs/pointer.md", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n");
    tree.write("outside.md", "outside");
    tree.write("docs/good.md", "good");
    symlink(tree.root.join("outside.md"), tree.root.join("docs/link.md")).unwrap();
    symlink("/", tree.root.join("docs/root")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        tree.root.join("docs/pipe.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let answer = tree.run(&SYNC);
    assert_eq!(
        (pages(&answer, "added"), &answer["counts"]["failed"], pages(&answer, "refused")),
        (
            vec!["good.md".to_owned()],
            &json!(3),
            ["bomb.docx", "empty.md", "entity.docx", "old.html"].map(str::to_owned).to_vec()
        ),
        "{answer:#}"
    );
    let reason = |name: &str| {
        let pages = answer["pages"].as_array().unwrap();
        let page = pages.iter().find(|page| page["url"].as_str().unwrap().ends_with(name)).unwrap();
        page["reason"].as_str().unwrap().to_owned()
    };
    for (name, expected) in [
        ("entity.docx", "DOCUMENT_UNREADABLE"),
        ("bomb.docx", "DOCUMENT_UNREADABLE"),
        ("broken.pdf", "PDF_UNREADABLE"),
        ("picture.docx", "NOT_TEXT"),
        ("empty.md", "EMPTY_CONTENT"),
        ("old.html", "EMPTY_CONTENT"),
        ("pointer.md", "NOT_TEXT"),
    ] {
        assert!(reason(name).starts_with(expected), "{name}: {}", reason(name));
    }
    let skipped = answer["skipped"].to_string();
    assert_eq!(
        (&answer["skipped"][0]["files"], &answer["skipped"][1]["example"]),
        (&json!(2), &json!("pipe.md")),
        "{skipped}"
    );
    // What is known stays when its file becomes unreadable.
    tree.write("docs/good.md", "\u{0}\u{1}\u{2}");
    let answer = tree.run(&SYNC);
    assert!(pages(&answer, "failed").contains(&"good.md".to_owned()), "{answer:#}");
    assert!(text_of(&tree, "good").contains("good"));
}

#[test]
fn a_knowledge_base_does_not_read_itself() {
    let tree = Tree::new(TOOL);
    tree.write("a.md", "tide");
    let sync = ["--source-dir", ".", "--kb-root", "kb"];
    assert_eq!(tree.run(&sync)["counts"]["added"], 1);
    assert_eq!(tree.run(&sync)["counts"]["unchanged"], 1);
    // Nor another one, nor where the documents go to another folder.
    assert_eq!(tree.run(&["--source-dir", ".", "--kb-root", "other", "--output-dir", "out"])["counts"]["added"], 1);
    let answer = tree.run(&["--source-dir", ".", "--kb-root", "other", "--output-dir", "out"]);
    assert_eq!((&answer["counts"]["unchanged"], &answer["counts"]["added"]), (&json!(1), &json!(0)));
    // Whoever names one as a folder of documents is told why there are none.
    let answer = tree.run(&["--source-dir", "kb/cache/documents", "--kb-root", "third"]);
    assert_eq!(answer["counts"]["added"], 0, "{answer:#}");
    assert_eq!(
        (&answer["skipped"][0]["files"], &answer["skipped"][0]["reason"]),
        (&json!(1), &json!("it is a file of a knowledge base"))
    );
}

#[test]
fn a_glob_means_what_it_says() {
    let tree = Tree::new(TOOL);
    for name in ["!a.md", "#b.md", "c.md"] {
        tree.write(&format!("docs/{name}"), name);
    }
    let with = |kb: &str, globs: &[&str]| {
        let answer = tree.run(&[&["--source-dir", "docs", "--kb-root", kb][..], globs].concat());
        pages(&answer, "added")
    };
    assert_eq!(with("one", &["--include", "!a.md", "--include", "#b.md"]), ["!a.md", "%23b.md"]);
    assert_eq!(with("two", &["--exclude", "!a.md", "--exclude", "#b.md"]), ["c.md"]);
}

#[test]
fn each_file_is_a_line_as_it_ends() {
    let tree = Tree::new(TOOL);
    tree.write("docs/a.md", "a");
    tree.write("docs/b.md", "b");
    let output = tree.command(&[&SYNC[..], &["--jsonl"]].concat()).output().unwrap();
    let lines: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["verdict"]), (2, &json!("added")));
    assert!(output.stderr.is_empty());
}

#[test]
fn links_in_the_place_of_reports_write_nothing_elsewhere() {
    let tree = Tree::new(TOOL);
    tree.write("docs/a.md", "a");
    let (_holder, outside) = ragmaker_testkit::folder("outside");
    let precious = ragmaker_testkit::write(&outside, "precious", "text");
    fs::create_dir_all(tree.root.join("kb/cache/reports")).unwrap();
    symlink(&precious, tree.root.join("kb/cache/reports/file-sync.part")).unwrap();
    let arguments = json!({"source_dir": "docs", "kb_root": "kb"}).to_string();
    let (code, error) = tree.error(&["--arguments", &arguments]);
    assert_eq!(code, "REPORT_NOT_WRITABLE");
    assert!(error["message"].as_str().unwrap().contains("symbolic link"), "{error}");
    assert_eq!(fs::read_to_string(&precious).unwrap(), "text");
    fs::remove_dir_all(tree.root.join("kb/cache/reports")).unwrap();
    symlink(&outside, tree.root.join("kb/cache/reports")).unwrap();
    assert_eq!(tree.error(&["--arguments", &arguments]).0, "REPORT_NOT_WRITABLE");
    assert_eq!(tree.error(&SYNC).0, "REPORT_NOT_WRITABLE");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn wrong_arguments_are_errors() {
    let tree = Tree::new(TOOL);
    tree.write("docs/a.md", "a");
    let sync = |source: &str| tree.error(&["--source-dir", source, "--kb-root", "kb"]).0;
    assert_eq!(
        (sync("none"), sync("docs/a.md"), sync("")),
        ("FILE_NOT_FOUND".into(), "NOT_A_DIRECTORY".into(), "ARGUMENT_ERROR".into())
    );
    for glob in [["--include", "["], ["--include", ""], ["--exclude", " "]] {
        assert_eq!(tree.error(&[&SYNC[..], &glob].concat()).0, "ARGUMENT_ERROR", "{glob:?}");
    }
    assert!(!tree.root.join("kb").exists());
    // A model reads and writes in the project alone.
    let model = |source: &str, kb: &str| {
        tree.error(&["--arguments", &json!({"source_dir": source, "kb_root": kb}).to_string()]).0
    };
    assert_eq!((model("/etc", "kb"), model("docs", "/tmp/kb")), ("PATH_NOT_ALLOWED".into(), "PATH_NOT_ALLOWED".into()));
    let stream = json!({"source_dir": "docs", "kb_root": "kb", "jsonl": true}).to_string();
    assert_eq!(tree.error(&["--arguments", &stream]).0, "ARGUMENT_ERROR");
    assert_eq!(
        tree.run(&["--arguments", &json!({"source_dir": "docs", "kb_root": "kb"}).to_string()])["counts"]["added"],
        1
    );
}
