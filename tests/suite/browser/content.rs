//! The content that `browser-extract` saves: encodings, frames, omitted boilerplate, front matter.

use ragmaker_tests::visitor::{Saved, Visitor};

use super::{OUTPUT_LIMIT, hrefs, links, owned, seen};

#[test]
fn frames_and_shadow_roots_are_saved_with_the_page() {
    let visitor = Visitor::with_browser();
    let frames = visitor.save_whole("/links/frames").markdown;
    assert!(frames.contains("Link outside of the frames"), "{frames}");
    assert!(frames.contains("Link in the same frame") && frames.contains("Link in a srcdoc frame"), "{frames}");
    assert!(!frames.contains("hidden frame"), "{frames}");
    let shadow = visitor.save_whole("/links/shadow").markdown;
    for text in ["outside of shadow roots", "an open shadow root", "a nested shadow root", "a declared shadow root"] {
        assert!(
            shadow.contains(&format!("Link {}{text}", if text.starts_with("out") { "" } else { "in " })),
            "{shadow}"
        );
    }
}

#[test]
fn a_page_is_read_in_its_own_encoding() {
    let visitor = Visitor::with_browser();
    for (page, title) in [("shift-jis", "シフトJISのページ"), ("euc-jp", "EUC-JPのページ")] {
        let saved = visitor.save(&format!("/content/{page}"));
        assert_eq!(saved.field("title"), title);
        assert!(saved.markdown.contains("潮位は六分ごとに記録されます。") && saved.markdown.contains('①'), "{page}");
        assert!(saved.markdown.contains(&format!("[潮汐の仕組み]({})", visitor.site.url("/page/tides"))), "{page}");
    }
    // The server's word counts, as it does in every browser; the address and the file are whole.
    let wrong = visitor.save("/content/wrong-charset");
    assert!(wrong.field("title").contains("UTF-8"), "{}", wrong.field("title"));
    for (page, text) in [
        ("/wiki/ja/introduction", "# Tidemark 入門"),
        ("/wiki/ja/glossary", "# 潮汐用語集"),
        ("/wiki/ja/history", "# 験潮の歴史"),
    ] {
        let saved = visitor.save(page);
        assert!(saved.has_line(text), "{page}: {}", saved.markdown);
        assert!(!saved.markdown.contains('\u{fffd}'), "{page}");
    }
}

#[test]
fn deep_huge_and_broken_documents_are_saved_whole() {
    let visitor = Visitor::with_browser();
    for page in ["deep", "deep-script"] {
        let page = format!("/content/{page}");
        // What the parser flattens comes out of its order, but all of it is there.
        let saved = visitor.save_whole(&page);
        assert!(saved.markdown.contains("The bottom, with a "), "{page}: {}", saved.markdown);
        assert!(hrefs(&visitor, &page).contains(&"/page/bottom".to_owned()), "{page}");
    }
    let run = visitor.extract("/content/huge").args(["--timeout", "100"]).run();
    assert!(run.answer()["words"].as_u64() > Some(1_000_000), "{}", run.answer());
    assert!(Saved::by(&run).markdown.len() > 7_000_000);

    let saved = visitor.save("/content/surrogates");
    assert_eq!(saved.field("title"), "Half \u{fffd} a title");
    assert!(saved.markdown.contains("Half \u{fffd} a character."), "{}", saved.markdown);
    let answer = seen(&visitor, "/content/surrogates");
    assert_eq!(links(&visitor, &answer), owned([("Link with \u{fffd} half a character", "/page/whole")]));
}

#[test]
fn every_title_is_valid_front_matter() {
    let visitor = Visitor::with_browser();
    let title = "--- title: \"It's\" # 50% of {a: [b]} & *all* | > --- emoji 🌊 end:";
    let saved = visitor.save("/content/title");
    assert_eq!(saved.field("title").split_whitespace().collect::<Vec<_>>().join(" "), title);
    assert_eq!(saved.field("source_url"), visitor.site.url("/content/title"));
    assert_eq!(visitor.documents()[0]["title"], saved.field("title"));
    let answer = seen(&visitor, "/content/long-title");
    assert!(answer.to_string().chars().count() < OUTPUT_LIMIT);
    let long = visitor.save("/content/long-title");
    assert!(long.field("title").starts_with("Long title Long title"), "{}", long.field("title"));
}

#[test]
fn banners_and_navigation_are_not_content() {
    let visitor = Visitor::with_browser();
    let markdown = visitor.save("/content/banner").markdown;
    for text in ["A box with a shadow", "A download, which belongs to it too"] {
        assert!(markdown.contains(text), "{text}: {markdown}");
    }
    for text in ["cookies", "Accept all", "newsletter", "No, thanks", "rubber boots", "Advertisement"] {
        assert!(!markdown.contains(text), "{text}: {markdown}");
    }
    let markdown = visitor.save("/wiki/tides").markdown;
    for text in
        ["Skip to content", "Main", "Copy link", "Was this page helpful", "one cookie", "addEventListener", "Footer"]
    {
        assert!(!markdown.lines().any(|line| line.contains(text)), "{text}: {markdown}");
    }
}

#[test]
fn an_element_can_be_saved_alone() {
    let visitor = Visitor::with_browser();
    let run = visitor.extract("/wiki/installation").args(["--selector", "#platforms, table"]).run();
    let saved = Saved::by(&run);
    assert!(saved.markdown.contains("Debian 12") && !saved.markdown.contains("As a service"), "{}", saved.markdown);
    assert_eq!(saved.field("title"), "Installation | Tidemark");
    // An element that is otherwise not content is content if the selector names it.
    let sidebar = Saved::by(&visitor.extract("/wiki/faq").args(["--selector", "nav.sidebar"]).run());
    assert!(sidebar.markdown.contains("Harmonic analysis"), "{}", sidebar.markdown);
    let before = visitor.saved();
    let none = visitor.extract("/wiki/tides").args(["--selector", ".never"]).run();
    assert_eq!(none.error("SELECTOR_NOT_FOUND")["details"]["selector"], ".never");
    let bad = visitor.extract("/wiki/tides").args(["--selector", "a[[b"]).run();
    assert_eq!(bad.error("ARGUMENT_ERROR")["details"]["argument"], "--selector");
    assert_eq!(visitor.saved(), before);
}

#[test]
fn the_wiki_becomes_markdown() {
    let visitor = Visitor::with_browser();
    let at = |page: &str| visitor.site.url(page);

    let saved = visitor.save("/wiki/installation");
    assert_eq!(saved.field("source_url"), at("/wiki/installation"));
    assert!(saved.field("fetched_at").ends_with('Z'), "{}", saved.field("fetched_at"));
    assert_eq!(saved.field("lang"), "en");
    for line in ["# Installation", "## Platforms", "## From source", "```bash", "```ini", "[Unit]", "Restart=always"] {
        assert!(saved.has_line(line), "{line}: {}", saved.markdown);
    }
    let cells = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let table: Vec<_> = saved.markdown.lines().filter(|line| line.starts_with('|')).map(cells).collect();
    assert_eq!(table[0], ["System", "Processor", "Size (MB)", "How"]);
    assert_eq!(table[2], ["Debian 12", "x86-64, arm64", "3.1", "`apt install tidemark`"]);
    assert_eq!(table[4][3], format!("the [archive]({}), unpacked anywhere", at("/wiki/tidemark-0.9.tar.gz")));
    assert!(saved.has_line("cargo build --release && sudo install target/release/tidemark /usr/local/bin/"));
    assert!(saved.has_line("2. Load it with `systemctl daemon-reload`."), "{}", saved.markdown);

    // Highlighted code, copy buttons and anchors around it.
    let rust = visitor.save("/wiki/rust-library").markdown;
    assert!(
        rust.contains(
            "```rust\nuse tidemark::{Station, Time};\n\nfn main() -> tidemark::Result<()> {\n    let station"
        ),
        "{rust}"
    );
    assert!(!rust.contains("Link to this section"), "{rust}");

    // Rendered by script from what it fetched.
    let stations = visitor.save("/wiki/stations").markdown;
    assert!(stations.contains("Mean range (m)") && !stations.contains("Loading stations"), "{stations}");

    // Every article, with an absolute address for each of its links.
    for (_, page) in links(&visitor, &seen(&visitor, "/wiki/")) {
        // The handbook and the archive are not pages.
        if !page.starts_with("/wiki/") || page.contains(".pdf") || page.contains(".tar") {
            continue;
        }
        let saved = visitor.save(&page);
        assert!(!saved.markdown.trim().is_empty(), "{page}");
        for target in saved.markdown.split("](").skip(1) {
            let absolute = ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme));
            assert!(absolute, "{page}: {}", target.chars().take(60).collect::<String>());
        }
    }
    assert_eq!(visitor.documents().len(), visitor.saved().len());
    assert!(visitor.saved().len() >= 17);
}

#[test]
fn the_heading_of_a_short_article_is_kept() {
    let visitor = Visitor::with_browser();
    for (page, heading) in
        [("/content/banner", "# Under a banner"), ("/page/one", "# one"), ("/wiki/gauges", "# Tide gauges")]
    {
        let saved = visitor.save(page);
        assert!(saved.has_line(heading), "{page}: {}", saved.markdown);
    }
}

#[test]
fn breadcrumbs_in_navigation_are_not_content() {
    let visitor = Visitor::with_browser();
    for page in ["/wiki/rust-library", "/wiki/tides", "/wiki/faq"] {
        let saved = visitor.save(page);
        // The trail stands before the heading.
        assert!(saved.markdown.starts_with("# "), "{page}: {}", saved.markdown);
    }
}

#[test]
fn button_labels_are_not_content() {
    let visitor = Visitor::with_browser();
    let markdown = visitor.save("/wiki/rust-library").markdown;
    for label in ["Copy", "Copy link", "Print", "Yes", "No", "Accept", "Decline"] {
        assert!(!markdown.lines().any(|line| line.trim() == label), "{label}: {markdown}");
    }
}
