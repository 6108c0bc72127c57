//! Screenshots and PDFs of pages: of the window, the page and elements, with numbers, with the page's images.

use std::{fs, path::Path};

use ragmaker_tests::{
    run::{Output, Tool},
    visitor::Visitor,
};
use serde_json::json;

/// The size that the head of a PNG says.
fn size(path: &Path) -> (u32, u32) {
    let bytes = fs::read(path).unwrap();
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "{}", path.display());
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

/// A visitor, and the names of the files in its folder of screenshots.
fn screenshots(visitor: &Visitor) -> Vec<String> {
    let entries = fs::read_dir(visitor.project.path().join("screenshots")).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_four_tools_take_pictures() {
    let visitor = Visitor::with_browser();
    let path = visitor.project.path().join("screenshots");
    let of = |tool: Tool, name: &str, more: &[&str]| -> Output {
        tool.args(["--screenshot", &format!("screenshots/{name}")]).args(more).run()
    };
    let run = of(visitor.navigate("/act/picture"), "window.png", &[]);
    let screenshot = &run.answer()["screenshot"];
    let window = size(&path.join("window.png"));
    assert_eq!(screenshot["path"], json!(path.join("window.png")));
    assert_eq!((&screenshot["width"], &screenshot["height"]), (&json!(window.0), &json!(window.1)));
    // The images of the page are loaded; the one further down when it is shown.
    assert_eq!((visitor.site.count("/content/image"), visitor.site.count("/slow/image/300/file")), (1, 0));
    of(visitor.navigate("/act/picture"), "whole.png", &["--full-page"]).answer();
    let whole = size(&path.join("whole.png"));
    assert!(whole.0 + 20 > window.0 && whole.1 > 2000, "{whole:?} {window:?}");
    assert_eq!(visitor.site.count("/slow/image/300/file"), 1);
    of(visitor.act("/act/picture", r##"[{"click":"#b"}]"##), "part.png", &["--screenshot-selector", "#drawing"])
        .answer();
    assert_eq!(size(&path.join("part.png")), (300, 200));
    of(visitor.extract("/act/picture"), "page.webp", &[]).answer();
    assert!(fs::read(path.join("page.webp")).unwrap().starts_with(b"RIFF"));
    // The numbers are where their elements are.
    let second = ["--screenshot-selector", "button[disabled]"];
    of(visitor.look(), "plain.png", &second).answer();
    let numbered = of(visitor.look(), "numbered.png", &[&second[..], &["--annotate"]].concat());
    let elements = &numbered.answer()["elements"];
    assert_eq!((&elements[0]["number"], &elements[1]["number"]), (&json!(1), &json!(2)), "{elements}");
    assert_ne!(fs::read(path.join("plain.png")).unwrap(), fs::read(path.join("numbered.png")).unwrap());
    // The numbers are gone from the page.
    of(visitor.look(), "after.png", &second).answer();
    assert_eq!(fs::read(path.join("plain.png")).unwrap(), fs::read(path.join("after.png")).unwrap());
    // A page that is longer than a screenshot can be.
    let tall = of(visitor.navigate("/act/tall"), "tall.png", &["--full-page"]);
    assert_eq!((&tall.answer()["screenshot"]["cut"], size(&path.join("tall.png")).1), (&json!(true), 16_383));
    let printed = visitor.navigate("/act/picture").args(["--print-pdf", "screenshots/page.pdf"]).run();
    assert_eq!(printed.answer()["pdf_path"], json!(path.join("page.pdf")));
    assert!(fs::read(path.join("page.pdf")).unwrap().starts_with(b"%PDF-"));
}

#[test]
fn a_picture_leaves_what_was_done_in_the_page() {
    let visitor = Visitor::with_browser();
    let screenshot = visitor.project.path().join("screenshots/acted.png");
    visitor.act("/act/picture", r##"[{"click":"#b"}]"##).run().answer();
    assert_eq!(visitor.site.count("/content/image"), 0);
    // What the page looks like with one pixel in place of its image.
    let look = |name: &str| visitor.look().args(["--screenshot", &format!("screenshots/{name}.png")]).run();
    look("acted").answer();
    assert_eq!((visitor.site.count("/act/picture"), visitor.site.count("/content/image")), (1, 1));
    let text = visitor.extract_open().args(["--selector", "body"]).run();
    let text = fs::read_to_string(text.answer()["file_path"].as_str().unwrap()).unwrap();
    assert!(text.contains("Shown: pressed"), "{text}");
    let acted = fs::read(&screenshot).unwrap();
    look("again").answer();
    assert_eq!(visitor.site.count("/content/image"), 1);
    // Loaded with its images from the start, it looks the same.
    let steps = visitor.act("/act/picture", r##"[{"click":"#b"}]"##).arg("--reload");
    steps.args(["--screenshot", "screenshots/whole.png"]).run().answer();
    assert_eq!(visitor.site.count("/act/picture"), 2);
    assert!(
        size(&screenshot) == size(&screenshot.with_file_name("whole.png")) && acted.len() > 5_000,
        "{}",
        acted.len()
    );
}

#[test]
fn no_file_is_left_where_there_is_no_picture() {
    let visitor = Visitor::with_browser();
    let take = |tool: Tool, args: &[&str]| tool.args(["--screenshot", "screenshots/a.png"]).args(args).run();
    take(visitor.navigate("/act/tall"), &["--screenshot-selector", ".none"]).error("SELECTOR_NOT_FOUND");
    take(visitor.navigate("/act/tall"), &["--screenshot-selector", "#none"]).error("SELECTOR_NOT_FOUND");
    let run = take(visitor.navigate("/act/tall"), &["--screenshot-selector", "p["]);
    assert_eq!(run.error("ARGUMENT_ERROR")["details"]["argument"], "--screenshot-selector");
    take(visitor.navigate("/broken/nothing"), &[]).error("NAVIGATION_FAILED");
    take(visitor.act("/act/tall", r#"[{"click":"button:None"}]"#), &[]).error("ELEMENT_NOT_FOUND");
    assert_eq!(screenshots(&visitor), Vec::<String>::new());
    // Before anything is loaded.
    let before = visitor.site.requests().len();
    let run = visitor.navigate("/act/tall").args(["--screenshot", "a.gif"]).run();
    assert_eq!((run.code, &run.error("ARGUMENT_ERROR")["details"]["argument"]), (2, &json!("--screenshot")));
    visitor.navigate("/act/tall").args(["--screenshot", "."]).run().error("ARGUMENT_ERROR");
    visitor.project.write("folder.png/file", "x");
    visitor.navigate("/act/tall").args(["--screenshot", "folder.png"]).run().error("IS_A_DIRECTORY");
    visitor.navigate("/act/tall").args(["--full-page"]).run().error("ARGUMENT_ERROR");
    visitor
        .extract_open()
        .args(["--urls", &visitor.url("/act/tall"), "--screenshot", "a.png"])
        .run()
        .error("ARGUMENT_ERROR");
    // A model writes within the project and the allowed folders only.
    let other = tempfile::tempdir().unwrap();
    let outside = other.path().join("a.png");
    let arguments = json!({"url": visitor.url("/act/picture"), "screenshot": outside}).to_string();
    let look = |more: &[&str]| visitor.look().args(["--arguments", &arguments]).args(more).run();
    look(&[]).error("PATH_NOT_ALLOWED");
    look(&["--allow-root", other.path().to_str().unwrap()]).error("PATH_NOT_WRITABLE");
    assert!(!outside.exists() && visitor.site.requests().len() == before);
    look(&["--allow-root", &format!("rw={}", other.path().display())]).answer();
    assert!(size(&outside).0 > 500);
}
