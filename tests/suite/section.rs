//! `ragmaker-http-fetch --section` on a site of 300 pages: requests, saved pages, detected changes, and resumption
//! after it was killed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    thread,
    time::Duration,
};

use ragmaker_tests::{
    run::{Project, Tool},
    site::{Changes, PAGES, Section},
};
use serde_json::{Value, json};

fn fetch(project: &Project, site: &Section) -> Tool {
    let url = site.url("/docs/");
    let arguments = ["--url", &url, "--section", "--kb-root", "kb", "--browser", "never"];
    project.tool("http-fetch").args(arguments).within(Duration::from_mins(3))
}

/// Every page of a run, by its address.
fn report(answer: &Value) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(answer["report_file"].as_str().unwrap()).unwrap();
    let pages: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let by_url: BTreeMap<_, _> =
        pages.iter().map(|page| (page["url"].as_str().unwrap().to_owned(), page.clone())).collect();
    assert_eq!(by_url.len(), pages.len(), "each page has one verdict");
    by_url
}

fn with(report: &BTreeMap<String, Value>, verdict: &str) -> BTreeSet<String> {
    report.iter().filter(|(_, page)| page["verdict"] == verdict).map(|(url, _)| url.clone()).collect()
}

fn addresses(site: &Section, paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| site.url(path)).collect()
}

/// The files of a knowledge base, and when each was written.
fn written(folder: &Path) -> BTreeMap<String, std::time::SystemTime> {
    let files = fs::read_dir(folder.join("kb/cache/documents")).unwrap().map(Result::unwrap);
    files.map(|file| (file.file_name().into_string().unwrap(), file.metadata().unwrap().modified().unwrap())).collect()
}

#[test]
fn exactly_the_section_is_fetched() {
    let (project, site) = (Project::new(), Section::start());
    let output = fetch(&project, &site).run();
    let answer = output.answer();
    let report = report(answer);
    assert_eq!(with(&report, "added"), site.expected());
    let forbidden: Vec<_> = site.requests().into_iter().filter(|path| Section::is_forbidden(path)).collect();
    assert!(forbidden.is_empty(), "{forbidden:?}");
    let refused = ["/docs/go-out", "/docs/go-private", "/docs/missing-1", "/docs/missing-2", "/docs/private/b"];
    let same = [("/docs/index.html", 0), ("/docs/title-page.html", 0), ("/docs/print/3", 3)];
    let same = BTreeMap::from(same.map(|(path, number)| (path, site.page(number))));
    for (path, of) in &same {
        let page = &report[&site.url(path)];
        assert_eq!(page["reason"], format!("it is the same document as {of}"), "{page}");
    }
    // The second is found in the first.
    let unlisted = ["/docs/print", "/docs/kept/a"].map(|path| site.url(path));
    for url in &unlisted {
        assert!(report[url]["reason"].as_str().unwrap().contains("noindex"), "{}", report[url]);
    }
    let refused = addresses(&site, &refused).into_iter().chain(unlisted).chain([site.url("/docs/private/c")]);
    let refused: BTreeSet<_> = refused.chain(same.keys().map(|path| site.url(path))).collect();
    assert_eq!(with(&report, "refused"), refused);
    assert_eq!(with(&report, "failed"), addresses(&site, &["/docs/round", "/docs/members/1", "/docs/members/2"]));
    assert!(report[&site.url("/docs/missing-1")]["reason"].as_str().unwrap().contains("do not exist"));
    assert!(report[&site.url("/docs/members/1")]["reason"].as_str().unwrap().contains("LOGIN_REQUIRED"));
    assert_eq!(answer["counts"]["added"], PAGES);

    let text = |number| fs::read_to_string(report[&site.page(number)]["file_path"].as_str().unwrap()).unwrap();
    assert!(text(10).contains("この頁は潮位の記録について書いたものです。"));
    assert!(text(20).contains("L'été, la marée monte très haut"));
    assert!(text(45).contains("gauge read --page 45") && !text(45).contains("<main>"));
    for number in [62, 63, 64, 65] {
        assert!(text(number).contains("Written by hand as Markdown"), "{number}");
        assert!(report[&site.page(number)]["reason"].as_str().unwrap().contains("publisher"));
    }
    // The publisher's is the shorter one.
    assert!(text(67).contains("gauge read --page 67") && report[&site.page(67)].get("reason").is_none());
    let catalog: Value =
        serde_json::from_str(&fs::read_to_string(project.path().join("kb/cache/catalog.json")).unwrap()).unwrap();
    assert_eq!(catalog["documents"].as_array().unwrap().len(), PAGES);
    let start = catalog["documents"].as_array().unwrap().iter().find(|one| one["url"] == site.url("/docs/")).unwrap();
    assert!(start["title"].is_string() && catalog["title"] == start["title"], "{}", catalog["title"]);
    assert_eq!(catalog["source_url"], site.url("/docs/"));
    let verified = project.tool("verify").args(["--kb-root", "kb", "--limit", "1"]).run();
    assert_eq!(verified.answer()["advice"][0]["kind"], "summary_missing");
    let tagged =
        catalog["documents"].as_array().unwrap().iter().filter(|one| one["source"]["etag"].is_string()).count();
    assert!(tagged >= PAGES / 2 - 5, "{tagged}");
}

#[test]
fn a_section_whose_start_asks_to_be_in_no_index_is_saved() {
    let (project, site) = (Project::new(), Section::without_waits());
    let kept = ["--url", &site.url("/docs/kept/"), "--section", "--kb-root", "kb", "--browser", "never"];
    let run = project.tool("http-fetch").args(kept).run();
    assert_eq!(with(&report(run.answer()), "added"), addresses(&site, &["/docs/kept/", "/docs/kept/a"]));
}

#[test]
fn a_directory_listing_has_links_and_is_no_document() {
    let (project, site) = (Project::new(), Section::without_waits());
    let url = site.url("/docs/files/");
    let run = ["--url", &url, "--section", "--kb-root", "kb", "--browser", "never"];
    let run = project.tool("http-fetch").args(run).run();
    let report = report(run.answer());
    assert_eq!(with(&report, "added"), addresses(&site, &["/docs/files/tides.html"]));
    assert_eq!(report[&url]["reason"], "it is a directory listing; only its links were used");
    // The knowledge base is named and has no defect.
    let verified = project.tool("verify").args(["--kb-root", "kb"]).run();
    let kinds: Vec<_> = verified.answer()["advice"].as_array().unwrap().iter().map(|advice| &advice["kind"]).collect();
    assert_eq!(kinds, ["summary_missing", "document_summary_missing"]);
}

#[test]
fn only_changed_pages_are_rewritten() {
    let (project, site) = (Project::new(), Section::start());
    fetch(&project, &site).args(["--concurrency", "4"]).run().answer();
    let (before, first_sent) = (written(project.path()), site.sent());
    site.forget();
    let output = fetch(&project, &site).run();
    let counts = &output.answer()["counts"];
    assert_eq!((&counts["unchanged"], &counts["added"], &counts["changed"]), (&json!(PAGES), &json!(0), &json!(0)));
    assert_eq!(written(project.path()), before);
    assert!(site.sent() * 10 < first_sent * 3, "{} of {first_sent} bytes", site.sent());

    let numbers = |range: std::ops::Range<usize>| range.map(|step| 3 + step * 4).collect::<Vec<_>>();
    let changes = Changes {
        edited: numbers(0..20),
        gone: vec![100, 105, 110, 111, 113],
        moved: vec![120, 121, 122, 125, 130],
        framed: (150..180).collect(),
        ..Changes::default()
    };
    site.change(changes.clone());
    let output = fetch(&project, &site).run();
    let report = report(output.answer());
    let pages = |numbers: &[usize]| numbers.iter().map(|number| site.page(*number)).collect::<BTreeSet<_>>();
    assert_eq!(with(&report, "changed"), pages(&changes.edited));
    assert_eq!(with(&report, "gone"), pages(&changes.gone));
    assert_eq!(with(&report, "moved"), pages(&changes.moved));
    assert_eq!(with(&report, "added"), BTreeSet::new());
    assert_eq!(with(&report, "unchanged").len(), PAGES - 30);
    let gone = fs::read_dir(project.path().join("kb/cache/gone")).unwrap().count();
    assert_eq!(gone, changes.gone.len());
    let output = fetch(&project, &site).run();
    assert_eq!(output.answer()["counts"]["unchanged"], PAGES - changes.gone.len());
}

#[test]
fn links_of_unchanged_pages_are_followed() {
    let (project, site) = (Project::new(), Section::start());
    // Only a link leads to each of them: from a page with Last-Modified, one with the publisher's Markdown, one with an
    // ETag.
    let missing = [125, 131, 140];
    site.change(Changes { gone: missing.to_vec(), ..Changes::default() });
    let first = fetch(&project, &site).args(["--max-pages", "200"]).run();
    assert!(first.answer()["left"].as_u64().unwrap() > 0);
    // The pages that the limit left out are found behind pages that are unchanged.
    let second = fetch(&project, &site).run();
    let saved = |answer: &Value| answer["counts"]["added"].as_u64().unwrap();
    assert_eq!(saved(first.answer()) + saved(second.answer()), (PAGES - missing.len()) as u64);

    site.change(Changes::default());
    let output = fetch(&project, &site).run();
    let report = report(output.answer());
    assert_eq!(with(&report, "added"), missing.iter().map(|number| site.page(*number)).collect());
    assert_eq!(with(&report, "unchanged").len(), PAGES - missing.len());
}

#[test]
fn a_killed_run_is_continued() {
    let (whole, killed) = ((Project::new(), Section::start()), (Project::new(), Section::start()));
    fetch(&whole.0, &whole.1).run().answer();
    let mut child = fetch(&killed.0, &killed.1).into_command().spawn().unwrap();
    while killed.1.requests().len() < 120 {
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Without a connection, nothing of it is lost.
    let offline = fetch(&killed.0, &killed.1).env("http_proxy", "http://127.0.0.1:9").run();
    let failed = with(&report(offline.answer()), "failed");
    assert!(failed.contains(&killed.1.url("/docs/")), "{failed:?}");
    let output = fetch(&killed.0, &killed.1).run();
    let answer = output.answer();
    assert_eq!((&answer["continued"], &answer["counts"]["added"]), (&json!(true), &json!(PAGES)));
    let times = |site: &Section| {
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        let expected = site.expected();
        for path in site.requests().into_iter().filter(|path| expected.contains(&site.url(path))) {
            *times.entry(path).or_default() += 1;
        }
        times
    };
    let (once, again) = (times(&whole.1), times(&killed.1));
    let twice: Vec<_> = again.iter().filter(|(path, count)| **count > once[*path]).collect();
    assert!(twice.len() <= 1, "{twice:?}");
    killed.0.tool("verify").args(["--kb-root", "kb"]).run().answer();
}

#[test]
fn a_plan_says_why_and_a_stream_has_no_summary() {
    let (project, site) = (Project::new(), Section::start());
    let plan = fetch(&project, &site).arg("--dry-run").run();
    let plan = plan.answer();
    assert!(!project.path().join("kb").exists());
    assert_eq!(plan["total"], plan["kept"].as_u64().unwrap() + plan["dropped"].as_u64().unwrap());
    let (mut offset, mut dropped) = (json!(0), BTreeMap::new());
    while !offset.is_null() {
        let page = fetch(&project, &site).args(["--dry-run", "--offset", &offset.to_string()]).run();
        for planned in page.answer()["pages"].as_array().unwrap().iter().filter(|page| page["kept"] == false) {
            dropped.insert(planned["url"].as_str().unwrap().to_owned(), planned["reason"].clone());
        }
        offset = page.answer()["next"]["offset"].clone();
    }
    assert_eq!(dropped[&site.url("/docs-old/a")], "it is outside of the section");
    assert_eq!(dropped[&site.url("/docs/private/b")], "robots.txt disallows it");
    assert_eq!(dropped[&site.url("/docs/a.png")], "the file name is not that of a document");

    let lines = fetch(&project, &site).args(["--jsonl", "--max-pages", "7", "--exclude", "part-0"]).run_raw();
    let lines = String::from_utf8(lines.stdout).unwrap();
    assert_eq!(lines.lines().count(), 7, "{lines}");
    assert!(
        lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|page| page["verdict"].is_string()))
    );
}

#[test]
fn a_page_that_a_browser_saved_is_compared_there() {
    let (project, site) = (Project::new(), Section::without_waits());
    let (url, base) = (site.page(3), site.url("/docs/"));
    let saved = project.tool("browser-extract").args(["--url", &url, "--kb-root", "kb"]).run().answer().clone();
    let file = saved["file_path"].as_str().unwrap();
    let before = fs::read_to_string(file).unwrap();
    let section = ["--section", "--depth", "0", "--browser", "never", "--kb-root", "kb"];
    let fetched = project.tool("http-fetch").args(["--url", &url, "--prefix", &base]).args(section).run();
    let report = report(fetched.answer());
    assert_eq!((&report[&url]["verdict"], &report[&url]["file_path"]), (&json!("unchanged"), &json!(file)));
    assert!(report[&url]["reason"].as_str().unwrap().contains("browser"));
    assert_eq!(fs::read_to_string(file).unwrap(), before);

    let refresh = || {
        let answer =
            project.tool("refresh-knowledge-base").args(["--kb-root", "kb", "--allow-private"]).run().answer().clone();
        let report = fs::read_to_string(answer["report_file"].as_str().unwrap()).unwrap();
        serde_json::from_str::<Value>(report.lines().next().unwrap()).unwrap()
    };
    let page = refresh();
    assert_eq!((&page["verdict"], &page["via"]), (&json!("unchanged"), &json!("browser")));
    site.change(Changes { edited: vec![3], ..Changes::default() });
    let page = refresh();
    assert_eq!((&page["verdict"], &page["url"]), (&json!("changed"), &json!(url)));
    assert_ne!(fs::read_to_string(file).unwrap(), before);
    site.change(Changes { gone: vec![3], ..Changes::default() });
    assert_eq!(refresh()["verdict"], "gone");
    assert!(!Path::new(file).exists());
    project.tool("browser-close").run().answer();
}

#[test]
fn a_section_of_which_nothing_is_fetched_is_an_error() {
    let (project, site) = (Project::new(), Section::without_waits());
    let (url, prefix) = (site.url("/docs/members/1"), site.url("/docs/"));
    let section = ["--url", &url, "--prefix", &prefix, "--section", "--depth", "0", "--browser", "never"];
    let fetch = || project.tool("http-fetch").args(section).args(["--kb-root", "kb"]);
    let output = fetch().run();
    let details = &output.error("LOGIN_REQUIRED")["details"];
    assert_eq!((&details["http_status"], &details["url"]), (&json!(401), &json!(url)));
    assert_eq!(with(&report(details), "failed"), BTreeSet::from([url.clone()]));
    let line = fetch().arg("--jsonl").run_raw();
    assert_eq!(line.status.code(), Some(1));
    assert_eq!(serde_json::from_slice::<Value>(&line.stdout).unwrap()["verdict"], "failed");
    let forbidden = site.url("/docs/private/b");
    let refused = project.tool("http-fetch").args(["--url", &forbidden, "--section", "--kb-root", "kb"]).run();
    let error = refused.error("START_REFUSED");
    assert!(
        error["message"].as_str().unwrap().ends_with("/docs/private/b is refused: robots.txt disallows it"),
        "{error}"
    );
    assert_eq!(with(&report(&error["details"]), "refused"), BTreeSet::from([forbidden]));
    // The site does not answer, before and after pages of it were saved.
    let offline = || fetch().env("http_proxy", "http://127.0.0.1:9").run();
    offline().error("NAVIGATION_FAILED");
    let page = site.page(3);
    let saved = ["--url", &page, "--prefix", &prefix, "--section", "--depth", "0", "--kb-root", "kb"];
    let saved = project.tool("http-fetch").args(saved).args(["--browser", "never"]).run();
    assert_eq!(saved.answer()["counts"]["added"], 1);
    offline().error("NAVIGATION_FAILED");
}

#[test]
fn a_title_of_a_knowledge_base_is_kept() {
    let (project, site) = (Project::new(), Section::without_waits());
    project.tool("entry-discovery").args(["--kb-root", "kb", "--title", "Mine"]).run().answer();
    let section = ["--url", &site.page(3), "--prefix", &site.url("/docs/"), "--section", "--depth", "0"];
    project.tool("http-fetch").args(section).args(["--kb-root", "kb", "--browser", "never"]).run().answer();
    let catalog: Value =
        serde_json::from_str(&fs::read_to_string(project.path().join("kb/cache/catalog.json")).unwrap()).unwrap();
    assert_eq!((&catalog["title"], catalog["documents"].as_array().unwrap().len()), (&json!("Mine"), 1));
}

#[test]
fn a_page_that_only_redirects_is_followed_and_not_saved() {
    let (project, site) = (Project::new(), Section::without_waits());
    let (url, prefix) = (site.url("/docs/onward"), site.url("/docs/"));
    let page = project.tool("http-fetch").args(["--url", &url, "--browser", "never"]).run();
    assert_eq!(page.answer()["url"], site.page(25));
    let section = ["--section", "--prefix", &prefix, "--match", "onward|page-25$", "--kb-root", "kb"];
    let fetched = project.tool("http-fetch").args(["--url", &url, "--depth", "1"]).args(section).run();
    let report = report(fetched.answer());
    assert_eq!(with(&report, "added"), BTreeSet::from([site.page(25)]));
    assert!(report[&url]["reason"].as_str().unwrap().contains(&site.page(25)), "{}", report[&url]);
}

#[test]
fn a_refresh_asks_for_each_thing_once() {
    let (project, site) = (Project::new(), Section::without_waits());
    // Three sections of one site; the text of page 62 is the publisher's.
    for (number, prefix) in [(25, "/docs/part-1/"), (45, "/docs/part-2/"), (62, "/docs/")] {
        let (url, prefix) = (site.page(number), site.url(prefix));
        let section = ["--section", "--depth", "0", "--browser", "never", "--kb-root", "kb", "--prefix", &prefix];
        assert_eq!(project.tool("http-fetch").args(["--url", &url]).args(section).run().answer()["counts"]["added"], 1);
    }
    site.forget();
    site.change(Changes { without_markdown: vec![62], ..Changes::default() });
    let answer = project.tool("refresh-knowledge-base").args(["--kb-root", "kb", "--allow-private"]).run();
    let counts = &answer.answer()["counts"];
    assert_eq!((&counts["changed"], &counts["unchanged"]), (&json!(1), &json!(2)), "{counts}");
    let asked = |path: &str| site.requests().iter().filter(|asked| *asked == path).count();
    assert_eq!((asked("/robots.txt"), asked("/docs/markdown/62.md")), (1, 1), "{:?}", site.requests());
}

#[test]
fn the_browser_keeps_to_the_section_and_to_robots_txt() {
    let (project, site) = (Project::new(), Section::without_waits());
    let fetch = |path: &str| {
        let (url, prefix) = (site.url(path), site.url("/docs/"));
        let section = ["--url", &url, "--section", "--prefix", &prefix, "--depth", "0", "--kb-root", "kb"];
        (url.clone(), project.tool("http-fetch").args(section).run())
    };
    let (url, fetched) = fetch("/docs/shell/data");
    let shown = report(fetched.answer())[&url].clone();
    assert_eq!((&shown["verdict"], &shown["via"]), (&json!("added"), &json!("browser")), "{shown}");
    let text = fs::read_to_string(shown["file_path"].as_str().unwrap()).unwrap();
    assert!(text.contains("the data of the shell"), "{text}");
    let (url, refused) = fetch("/docs/shell/leave");
    let left = report(&refused.error("START_REFUSED")["details"])[&url].clone();
    let reason = left["reason"].as_str().unwrap();
    assert_eq!(left["verdict"], "refused", "{left}");
    assert!(reason.contains("/docs/private/a") && reason.contains("robots.txt disallows it"), "{left}");
    // A part of a page is not of the section, and may be requested.
    let forbidden = site.requests().into_iter().filter(|path| Section::is_forbidden(path) && path != "/tides.json");
    assert_eq!(forbidden.collect::<Vec<_>>(), Vec::<String>::new());
    project.tool("browser-close").run().answer();
}

#[test]
fn a_page_for_members_is_fetched_by_the_session_that_signed_in() {
    let (project, site) = (Project::new(), Section::start());
    let url = site.url("/docs/members/1");
    project.tool("http-fetch").args(["--url", &url, "--browser", "never"]).run().error("LOGIN_REQUIRED");
    project.tool("browser-navigate").args(["--url", &site.url("/docs/login")]).run().answer();
    let output = project.tool("http-fetch").args(["--url", &url]).run();
    let page = output.answer();
    assert_eq!((&page["via"], &page["title"]), (&json!("browser"), &json!("Members 1")));
    assert!(page["reason"].as_str().unwrap().contains("login"));
    project.tool("browser-close").run().answer();
}
