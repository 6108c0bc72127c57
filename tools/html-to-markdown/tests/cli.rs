//! Tests of the executable.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

const PAGE: &str = "<html lang=en><head><title>Tides</title><link rel=canonical href=/tides></head><body>\
    <nav><a href=/>Home</a> <a href=/about>About</a></nav><main><h1>Tides</h1>\
    <p>The tide is the rise and fall of the sea, caused by the pull of the moon and the sun on the earth.</p>\
    <p>Most coasts see <a href=two>two high tides</a> a day, a little later every day, as the moon moves on.</p>\
    </main><footer>All rights reserved</footer></body></html>";

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ragmaker-html-to-markdown"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A tool that refuses its arguments does not read standard input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn answer(arguments: &[&str], input: &[u8]) -> Value {
    let output = run(arguments, input);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(arguments: &[&str], input: &[u8]) -> (i32, String) {
    let output = run(arguments, input);
    assert!(output.stdout.is_empty());
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    (output.status.code().unwrap(), error["error_code"].as_str().unwrap().to_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn a_relative_folder_needs_a_working_directory() {
    let top = tempfile::tempdir().unwrap();
    let script =
        "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" --base-url https://x.example/ --output-dir \"$1\"";
    let run = |folder: &str| {
        let shell = ["-c", script, env!("CARGO_BIN_EXE_ragmaker-html-to-markdown"), folder];
        let mut child = Command::new("sh")
            .args(shell)
            .current_dir(top.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let _ = child.stdin.take().unwrap().write_all(PAGE.as_bytes());
        child.wait_with_output().unwrap()
    };
    let error: Value = serde_json::from_slice(&run("out").stderr).unwrap();
    assert_eq!((&error["error_code"], &error["details"]["path"]), (&"ROOT_NOT_USABLE".into(), &"out".into()));
    assert!(run(top.path().join("out").to_str().unwrap()).status.success());
}

#[test]
fn a_page_becomes_markdown_and_metadata() {
    let page = answer(&["--base-url", "https://sea.example/wiki/"], PAGE.as_bytes());
    let markdown = page["markdown"].as_str().unwrap();
    assert!(markdown.contains("[two high tides](https://sea.example/wiki/two)"), "{markdown}");
    assert!(!markdown.contains("About") && !markdown.contains("rights"), "{markdown}");
    assert_eq!(page["status"], "success");
    assert_eq!(page["title"], "Tides");
    assert_eq!(page["url"], "https://sea.example/tides");
    assert_eq!(page["lang"], "en");
    assert_eq!(page["charset"], "UTF-8");
    assert_eq!(page["truncated"], false);
    assert!(page["next"].is_null());
    assert_eq!(page["total"], markdown.chars().count());
}

#[test]
fn raw_is_the_markdown_alone_and_whole_is_everything() {
    let output = run(&["--raw", "--whole"], PAGE.as_bytes());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("[Home](/) [About](/about)\n\n# Tides\n"), "{text}");
    assert!(text.ends_with("All rights reserved\n"));
}

#[test]
fn a_selector_names_what_is_converted() {
    assert_eq!(answer(&["--selector", "main > h1"], PAGE.as_bytes())["markdown"], "# Tides\n");
    assert_eq!(refused(&["--selector", "table"], PAGE.as_bytes()), (1, "SELECTOR_NOT_FOUND".into()));
    assert_eq!(refused(&["--selector", "a:["], PAGE.as_bytes()), (2, "ARGUMENT_ERROR".into()));
    assert_eq!(refused(&["--selector", "a", "--whole"], b""), (2, "ARGUMENT_ERROR".into()));
}

#[test]
fn the_parts_of_a_long_page_join_to_the_whole() {
    let page: String = "<p>Paragraph \"n\" of a page that is long, 日本語も.</p>\n".repeat(2000);
    let whole = String::from_utf8(run(&["--raw", "--whole"], page.as_bytes()).stdout).unwrap();
    let mut parts = String::new();
    let mut offset = 0;
    loop {
        let output = run(&["--whole", "--offset", &offset.to_string()], page.as_bytes());
        assert!(String::from_utf8_lossy(&output.stdout).chars().count() <= 29_000);
        let part: Value = serde_json::from_slice(&output.stdout).unwrap();
        parts += part["markdown"].as_str().unwrap();
        if part["next"].is_null() {
            break;
        }
        assert_eq!(part["truncated"], true);
        offset = part["next"]["offset"].as_u64().unwrap();
    }
    assert_eq!(parts, whole);
    assert_eq!(answer(&["--whole", "--limit", "9"], page.as_bytes())["markdown"], "Paragraph");
    assert_eq!(refused(&["--whole", "--offset", "999999"], page.as_bytes()), (1, "OFFSET_BEYOND_END".into()));
}

#[test]
fn legacy_charsets_are_decoded() {
    let page = b"<meta charset=Shift_JIS><p>\x93\xFA\x96\x7B\x8C\xEA";
    let answer = answer(&["--whole"], page);
    assert_eq!(answer["markdown"], "日本語\n");
    assert_eq!(answer["charset"], "Shift_JIS");
    assert_eq!(answer["words"], 3);
}

#[test]
fn a_file_is_written_whole_with_front_matter() {
    let folder = tempfile::tempdir().unwrap();
    let (page, out) = (folder.path().join("a b.html"), folder.path().join("new/out"));
    std::fs::write(&page, PAGE).unwrap();
    let arguments = ["--path", page.to_str().unwrap(), "--output-dir", out.to_str().unwrap()];
    let saved = answer(&arguments, b"");
    let path = saved["file_path"].as_str().unwrap();
    assert!(saved.get("markdown").is_none());
    let text = std::fs::read_to_string(path).unwrap();
    assert!(
        text.starts_with("---\nsource_url: \"file:///")
            && text.contains("\ntitle: \"Tides\"\n")
            && text.contains("[two high tides](two)"),
        "{text}"
    );
    assert_eq!(answer(&arguments, b"")["file_path"], path);
    assert_eq!(refused(&["--output-dir", out.to_str().unwrap()], b"<p>text"), (2, "ARGUMENT_ERROR".into()));
}

#[test]
fn a_page_is_saved_in_a_knowledge_base_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let kb = folder.path().join("kb");
    let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let (kb_root, address) = (text(&kb), "https://sea.example/tides?day=1");
    let arguments = ["--kb-root", kb_root.as_str(), "--base-url", address];
    let saved = answer(&arguments, PAGE.as_bytes());
    let file = std::path::Path::new(saved["file_path"].as_str().unwrap());
    assert_eq!(file.parent(), Some(kb.join("cache/documents").as_path()));
    assert_eq!(saved["catalog_file"], text(&kb.join("cache/catalog.json")));
    assert!(saved.get("markdown").is_none());
    let documents = || {
        let catalog: Value = serde_json::from_slice(&std::fs::read(kb.join("cache/catalog.json")).unwrap()).unwrap();
        catalog["documents"].as_array().unwrap().clone()
    };
    let name = file.file_name().unwrap().to_str().unwrap();
    let first = documents();
    assert_eq!((&first[0]["url"], &first[0]["title"]), (&address.into(), &"Tides".into()));
    assert_eq!(first[0]["path"], format!("documents/{name}"));
    let front_matter = std::fs::read_to_string(file).unwrap();
    assert!(front_matter.contains(&format!("fetched_at: {}\n", first[0]["fetched_at"])), "{front_matter}");

    // Saved again, the file and the entry stay the same. With --output-dir, the entry points to the new file.
    answer(&arguments, PAGE.as_bytes());
    assert_eq!((documents().len(), std::fs::read_dir(file.parent().unwrap()).unwrap().count()), (1, 1));
    let (pages, catalog) = (text(&kb.join("pages")), text(&kb.join("cache/catalog.json")));
    let other = ["--catalog-path", catalog.as_str(), "--output-dir", &pages, "--base-url", "https://sea.example"];
    answer(&other, PAGE.as_bytes());
    assert!(documents()[1]["path"].as_str().unwrap().starts_with("../pages/sea.example-"), "{:?}", documents()[1]);
    assert_eq!(documents()[1]["url"], "https://sea.example/", "one spelling for equivalent addresses");
}

#[test]
fn conflicting_places_are_refused_before_writing() {
    let folder = tempfile::tempdir().unwrap();
    let kb = folder.path().join("kb").to_str().unwrap().to_owned();
    for (arguments, argument) in [
        (&["--raw", "--kb-root", &kb][..], "--kb-root"),
        (&["--raw", "--catalog-path", &kb], "--catalog-path"),
        (&["--kb-root", &kb, "--catalog-path", &kb], "--catalog-path"),
        (&["--kb-root", ""], "--kb-root"),
        (&["--kb-root", &kb, "--output-dir", ""], "--output-dir"),
    ] {
        let output = run(arguments, PAGE.as_bytes());
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!((&error["error_code"], &error["details"]["argument"]), (&"ARGUMENT_ERROR".into(), &argument.into()));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_page_is_kept_if_the_catalog_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = folder.path().join("catalog.json");
    std::fs::write(&catalog, "{").unwrap();
    let path = catalog.to_str().unwrap();
    let output = run(&["--catalog-path", path, "--base-url", "https://sea.example/tides"], PAGE.as_bytes());
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["error_code"], "CATALOG_CORRUPT");
    assert!(std::fs::read_to_string(error["details"]["file_path"].as_str().unwrap()).unwrap().contains("# Tides"));
    assert_eq!(std::fs::read_to_string(&catalog).unwrap(), "{");
}

#[test]
fn text_has_the_content_of_the_markdown_also_where_a_page_has_it_in_its_data() {
    let body = "High water comes twice a day at this pier, and the boats leave with the ebb before noon. ".repeat(8);
    let page = format!(
        r#"<script type="application/ld+json">{{"@type":"NewsArticle","articleBody":"{body}"}}</script>
        <title>Tides</title><div id=app><p>Loading</div>"#
    );
    let markdown = answer(&[], page.as_bytes());
    assert!(markdown["markdown"].as_str().unwrap().contains("the boats leave with the ebb"), "{markdown}");
    let text = String::from_utf8(run(&["--text", "--width", "400"], page.as_bytes()).stdout).unwrap();
    assert!(text.contains("the boats leave with the ebb"), "{text}");
}

#[test]
fn input_that_is_not_a_page_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    assert_eq!(refused(&["--path", &path("none")], b""), (1, "FILE_NOT_FOUND".into()));
    assert_eq!(refused(&["--path", &path("")], b""), (1, "IS_A_DIRECTORY".into()));
    assert_eq!(refused(&[], b""), (1, "EMPTY_CONTENT".into()));
    assert_eq!(refused(&["--whole"], b"<script>alert(1)</script><style>p{}</style> "), (1, "EMPTY_CONTENT".into()));
    assert_eq!(refused(&["--whole", "--text"], b"<img src=a alt=''>"), (1, "EMPTY_CONTENT".into()));
    assert_eq!(refused(&[], b"%PDF-1.7 ..."), (1, "NOT_TEXT".into()));
    let noise: Vec<u8> = (0..9000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    assert_eq!(refused(&[], &noise), (1, "NOT_TEXT".into()));
    let nuls = [b"<p>te\0xt".as_slice(), &[0; 20]].concat();
    assert_eq!(answer(&["--path", "-", "--whole"], &nuls)["markdown"], "text\n");
    assert_eq!(refused(&["--base-url", "example"], b"<p>x"), (2, "ARGUMENT_ERROR".into()));
    assert_eq!(refused(&["--width", "40"], b"<p>x"), (2, "ARGUMENT_ERROR".into()));
    assert_eq!(refused(&["--text", "--output-dir", "x"], b"<p>x"), (2, "ARGUMENT_ERROR".into()));
    let relative = answer(&["--base-url", "urn:isbn:1", "--whole"], b"<p><a href=b>a</a>");
    assert_eq!(relative["markdown"], "[a](b)\n");
}

#[cfg(unix)]
#[test]
fn a_pipe_by_name_does_not_hang() {
    assert_eq!(refused(&["--path", "/dev/null"], b""), (1, "NOT_A_REGULAR_FILE".into()));
}
