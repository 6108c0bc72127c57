//! `ragmaker-read-file` and PDFs.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        assert!(Command::new("pdftotext").arg("-v").output().is_ok(), "install pdftotext (package poppler-utils)");
        let folder = Self(TempDir::new().unwrap());
        fs::write(folder.path().join(name), content).unwrap();
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-read-file"));
        command.args(arguments).arg("--project-root").arg(self.path()).current_dir(self.path());
        command
    }

    fn read(&self, arguments: &[&str]) -> Value {
        answer(&mut self.command(arguments))
    }

    fn code(&self, arguments: &[&str]) -> Value {
        self.read(arguments)["error_code"].clone()
    }
}

fn answer(command: &mut Command) -> Value {
    let output = command.output().unwrap();
    let text = if output.status.success() { output.stdout } else { output.stderr };
    serde_json::from_slice(&text).unwrap()
}

/// A PDF of `objects`, the first of which is the catalog; `more` is added to its trailer.
fn file(objects: &[String], more: &str) -> Vec<u8> {
    let (mut out, mut offsets) = (String::from("%PDF-1.4\n"), vec![]);
    for (n, object) in objects.iter().enumerate() {
        offsets.push(out.len());
        writeln!(out, "{} 0 obj{object}endobj", n + 1).unwrap();
    }
    let start = out.len();
    write!(out, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
    for offset in offsets {
        writeln!(out, "{offset:010} 00000 n ").unwrap();
    }
    write!(out, "trailer<</Size {}/Root 1 0 R{more}>>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1).unwrap();
    out.into_bytes()
}

fn stream(text: &str) -> String {
    format!("<</Length {}>>stream\n{text}\nendstream", text.len())
}

/// The objects of a PDF of as many pages as `texts`, which are strings of it, in `font`.
fn pages(texts: &[&str], font: &str) -> Vec<String> {
    let kids: Vec<String> = (0..texts.len()).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let kids = kids.join(" ");
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Count {}/Kids[{kids}]/MediaBox[0 0 300 100]>>", texts.len()),
        font.to_owned(),
    ];
    for (n, text) in texts.iter().enumerate() {
        let contents = 5 + 2 * n;
        objects.push(format!("<</Type/Page/Parent 2 0 R/Resources<</Font<</F 3 0 R>>>>/Contents {contents} 0 R>>"));
        objects.push(stream(&format!("BT /F 12 Tf 20 50 Td {text} Tj ET")));
    }
    objects
}

const HELVETICA: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>";

#[test]
fn page_by_page() {
    let folder = Folder::with("a.pdf", file(&pages(&["(First page)", "(Second page)", "(Third page)"], HELVETICA), ""));
    let all = folder.read(&["--path", "a.pdf"]);
    assert_eq!((&all["kind"], &all["mime_type"]), (&json!("pdf"), &json!("application/pdf")));
    let pages: Vec<_> = all["content"].as_str().unwrap().split_terminator('\u{c}').map(str::trim).collect();
    assert_eq!(pages, ["First page", "Second page", "Third page"]);
    let second = folder.read(&["--path", "a.pdf", "--pages", "2"]);
    assert_eq!(second["content"].as_str().unwrap().trim(), "Second page");
    assert_eq!(folder.code(&["--path", "a.pdf", "--pages", "0"]), "ARGUMENT_ERROR");
    for pages in ["4", "4-", "7-9"] {
        let beyond = folder.read(&["--path", "a.pdf", "--pages", pages]);
        assert_eq!(
            (&beyond["error_code"], &beyond["details"]["total_pages"]),
            (&json!("OFFSET_BEYOND_END"), &json!(3))
        );
    }
    assert_eq!(folder.read(&["--path", "a.pdf", "--pages", "3-9"])["content"].as_str().unwrap().trim(), "Third page");
    fs::write(folder.path().join("a.txt"), "text").unwrap();
    assert_eq!(folder.code(&["--path", "a.txt", "--pages", "1"]), "ARGUMENT_ERROR");
}

#[test]
fn chinese_japanese_and_korean() {
    let text = "日本語 中文 한국어";
    let codes: Vec<(usize, char)> = text.chars().enumerate().map(|(n, c)| (n + 1, c)).collect();
    let shown = codes.iter().map(|(n, _)| format!("{n:04X}")).collect::<Vec<_>>().concat();
    // How programs write text that can be copied: glyphs by number, and what each of them means.
    let means: Vec<String> = codes.iter().map(|(n, c)| format!("<{n:04X}> <{:04X}>", u32::from(*c))).collect();
    let map = format!(
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n\
         1 begincodespacerange <0000> <FFFF> endcodespacerange\n{} beginbfchar\n{}\nendbfchar\n\
         endcmap end end",
        codes.len(),
        means.join("\n")
    );
    let font = "<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 8 0 R>>";
    let mut objects = pages(&[&format!("<{shown}>")], font);
    objects.push(
        "<</Type/Font/Subtype/CIDFontType2/BaseFont/X/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>\
         /FontDescriptor 7 0 R/DW 1000>>"
            .to_owned(),
    );
    objects.push(
        "<</Type/FontDescriptor/FontName/X/Flags 4/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 800/Descent -200\
         /CapHeight 800/StemV 80>>"
            .to_owned(),
    );
    objects.push(stream(&map));
    let folder = Folder::with("cjk.pdf", file(&objects, ""));
    let answer = folder.read(&["--path", "cjk.pdf"]);
    // Where a gap is a space and where a line, the font decides.
    let words: Vec<_> = answer["content"].as_str().unwrap().split_whitespace().collect();
    assert_eq!(words.join(" "), text);
}

#[test]
fn unreadable_pdfs_have_error_codes() {
    let folder = Folder::with("bad.pdf", "%PDF-1.7\njunk\n");
    assert_eq!(folder.code(&["--path", "bad.pdf"]), "PDF_UNREADABLE");
    assert!(folder.read(&["--path", "bad.pdf", "--as", "base64"])["data"].is_string());
    // Encrypted with a password that is not empty: no key that the empty one gives fits.
    let mut objects = pages(&["(secret)"], HELVETICA);
    let (owner, user) = ("4f".repeat(32), "55".repeat(32));
    objects.push(format!("<</Filter/Standard/V 1/R 2/O<{owner}>/U<{user}>/P -4>>"));
    let trailer = format!("/Encrypt 6 0 R/ID[<{0}><{0}>]", "00".repeat(16));
    fs::write(folder.path().join("encrypted.pdf"), file(&objects, &trailer)).unwrap();
    assert_eq!(folder.code(&["--path", "encrypted.pdf"]), "PDF_ENCRYPTED");
}

/// A folder with a program `pdftotext` that does what `script` says.
fn pretended(folder: &Folder, script: &str) -> PathBuf {
    let programs = folder.path().join("programs");
    ragmaker_testkit::script(&programs, "pdftotext", script);
    programs
}

#[test]
fn a_parser_that_crashes_or_never_stops_talking_is_contained() {
    let folder = Folder::with("a.pdf", file(&pages(&["(text)"], HELVETICA), ""));
    let with = |programs: &Path| {
        let path = format!("{}:/usr/bin:/bin", programs.display());
        answer(folder.command(&["--path", "a.pdf"]).env("PATH", path))["error_code"].clone()
    };
    assert_eq!(with(&pretended(&folder, "kill -SEGV $$")), "PDF_UNREADABLE");
    assert_eq!(with(&pretended(&folder, "exec yes text")), "PDF_UNREADABLE");
    let none = answer(folder.command(&["--path", "a.pdf"]).env("PATH", folder.path()));
    assert_eq!(none["error_code"], "PDF_READER_MISSING");
}
