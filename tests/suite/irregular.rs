//! `ragmaker-http-fetch --section` and `ragmaker-refresh-knowledge-base` on sites that answer in unusual ways.

use std::{collections::BTreeMap, fs};

use ragmaker_tests::{
    run::{Project, Tool},
    site::Irregular,
};
use serde_json::{Value, json};

fn fetch(project: &Project, site: &Irregular, path: &str) -> Tool {
    let url = site.url(path);
    project.tool("http-fetch").args(["--url", &url, "--section", "--kb-root", "kb", "--browser", "never"])
}

/// Each page of a run, by its path.
fn report(site: &Irregular, answer: &Value) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(answer["report_file"].as_str().unwrap()).unwrap();
    let pages = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let base = site.url("");
    pages.map(|page| (page["url"].as_str().unwrap().replace(&base, ""), page)).collect()
}

fn verdicts(report: &BTreeMap<String, Value>) -> BTreeMap<&str, &str> {
    report.iter().map(|(path, page)| (path.as_str(), page["verdict"].as_str().unwrap())).collect()
}

fn run(project: &Project, site: &Irregular, path: &str) -> BTreeMap<String, Value> {
    report(site, fetch(project, site, path).run().answer())
}

fn refresh(project: &Project, site: &Irregular) -> BTreeMap<String, Value> {
    report(site, project.tool("refresh-knowledge-base").args(["--kb-root", "kb", "--allow-private"]).run().answer())
}

fn text(page: &Value) -> String {
    fs::read_to_string(page["file_path"].as_str().unwrap()).unwrap()
}

/// Whether all pages of a run are unchanged.
fn is_unchanged(report: &BTreeMap<String, Value>) -> bool {
    report.values().all(|page| page["verdict"] == "unchanged" || page["verdict"] == "refused")
}

#[test]
fn no_request_leads_out_of_the_section_or_into_what_is_disallowed() {
    let (project, site) = (Project::new(), Irregular::start());
    fetch(&project, &site, "/aside/").arg("--dry-run").run().answer();
    let pages = report(&site, fetch(&project, &site, "/aside/").arg("--allow-private").run().answer());
    assert_eq!(verdicts(&pages), [("/aside/", "added"), ("/aside/a", "added"), ("/aside/b", "added")].into());
    refresh(&project, &site);
    let forbidden = |path: &String| path.starts_with("/private/") || path.starts_with("/elsewhere/");
    let requested: Vec<_> = site.requests().into_iter().filter(forbidden).collect();
    assert!(requested.is_empty(), "{requested:?}");
}

#[test]
fn a_refresh_does_not_leave_the_section() {
    let (project, site) = (Project::new(), Irregular::start());
    let before = text(&run(&project, &site, "/leaving/")["/leaving/a"]);
    site.leave();
    for report in [run(&project, &site, "/leaving/"), refresh(&project, &site)] {
        assert_eq!(report["/leaving/a"]["verdict"], "refused");
        assert_eq!(report["/leaving/b"]["verdict"], "unchanged");
    }
    assert!(!site.requests().contains(&"/other".to_owned()));
    let catalog = fs::read_to_string(project.path().join("kb/cache/catalog.json")).unwrap();
    let listed: Value = serde_json::from_str(&catalog).unwrap();
    let file = listed["documents"].as_array().unwrap().iter().find(|one| one["url"] == site.url("/leaving/a")).unwrap();
    assert_eq!(file["source"]["section"], site.url("/leaving/"));
    assert_eq!(fs::read_to_string(file["path"].as_str().unwrap()).unwrap_or(before.clone()), before);
}

#[test]
fn a_redirect_for_now_takes_no_page_out() {
    let (project, site) = (Project::new(), Irregular::start());
    let before = run(&project, &site, "/away/");
    assert_eq!(verdicts(&before), [("/away/", "added"), ("/away/a", "added"), ("/away/b", "added")].into());
    site.leave();
    for report in [run(&project, &site, "/away/"), refresh(&project, &site)] {
        assert_eq!(
            (&report["/away/a"]["verdict"], &report["/away/b"]["verdict"]),
            (&json!("refused"), &json!("refused"))
        );
    }
    for page in before.values() {
        assert!(!text(page).is_empty());
    }
}

#[test]
fn missing_pages_are_recognised_in_each_form() {
    let (project, site) = (Project::new(), Irregular::start());
    let pages = run(&project, &site, "/suffix/");
    for name in ["a", "b", "c"] {
        let text = text(&pages[&format!("/suffix/{name}")]);
        assert!(text.contains(&format!("The gauge {name} stands")), "{text}");
    }
    let pages = run(&project, &site, "/accept/");
    let expected = [
        ("/accept/", "added"),
        ("/accept/a", "added"),
        ("/accept/b", "added"),
        ("/accept/none-1", "refused"),
        ("/accept/none-2", "refused"),
    ];
    assert_eq!(verdicts(&pages), expected.into());
    let pages = run(&project, &site, "/clock/");
    let expected = [("/clock/", "added"), ("/clock/a", "added"), ("/clock/b", "added"), ("/clock/none", "refused")];
    assert_eq!(verdicts(&pages), expected.into());
}

#[test]
fn pages_that_differ_by_their_query_have_their_own_texts() {
    let (project, site) = (Project::new(), Irregular::start());
    let pages = run(&project, &site, "/list/");
    let texts = ["/list/items?page=1", "/list/items?page=2"].map(|path| text(&pages[path]));
    assert!(texts[0].contains("# Items page=1") && texts[1].contains("# Items page=2"), "{texts:?}");
}

#[test]
fn nothing_is_written_where_nothing_changed() {
    for path in ["/titles/", "/learned/", "/titles/a", "/accept/"] {
        let (project, site) = (Project::new(), Irregular::start());
        run(&project, &site, path);
        for number in 0..3 {
            let again = run(&project, &site, path);
            assert!(is_unchanged(&again), "{path}, fetch {number}: {again:?}");
            let again = refresh(&project, &site);
            assert!(is_unchanged(&again), "{path}, refresh {number}: {again:?}");
        }
    }
}

#[test]
fn the_fuller_text_is_kept_when_the_publishers_shrinks() {
    let (project, site) = (Project::new(), Irregular::start());
    let pages = run(&project, &site, "/shrinking/");
    assert!(text(&pages["/shrinking/"]).contains("Written by hand"));
    site.leave();
    let pages = refresh(&project, &site);
    assert_eq!(pages["/shrinking/"]["verdict"], "changed");
    let text = text(&pages["/shrinking/"]);
    assert!(!text.contains("See the page.") && text.len() > 400, "{text}");
    assert!(is_unchanged(&run(&project, &site, "/shrinking/")));
}

#[test]
fn the_given_address_is_a_page_whatever_missing_pages_show() {
    let (project, site) = (Project::new(), Irregular::start());
    // A missing page is another address of the start page.
    let expected = [("/home/", "added"), ("/home/a", "added"), ("/home/b", "added")];
    assert_eq!(verdicts(&run(&project, &site, "/home")), expected.into());
    assert!(is_unchanged(&run(&project, &site, "/home")));
    let expected = [("/front/", "added"), ("/front/a", "added"), ("/front/b", "added"), ("/front/none", "refused")];
    assert_eq!(verdicts(&run(&project, &site, "/front/")), expected.into());
    let again = refresh(&project, &site);
    assert!(again.values().all(|page| page["verdict"] == "unchanged"), "{again:?}");
}

#[test]
fn pages_that_fail_do_not_end_the_run() {
    let (project, site) = (Project::new(), Irregular::start());
    let output = fetch(&project, &site, "/lost/").run();
    let counts = &output.answer()["counts"];
    assert_eq!((&counts["added"], &counts["failed"]), (&json!(4), &json!(6)));
}

#[test]
fn an_answer_without_content_is_no_page() {
    let (project, site) = (Project::new(), Irregular::start());
    let pages = run(&project, &site, "/same/");
    assert_eq!(pages["/same/a"]["verdict"], "failed");
    let pages = run(&project, &site, "/kinds/");
    assert_eq!(
        (&pages["/kinds/part"]["verdict"], &pages["/kinds/label"]["verdict"]),
        (&json!("failed"), &json!("added"))
    );
    assert!(pages["/kinds/part"]["reason"].as_str().unwrap().contains("206"));
    assert_eq!(pages.len(), 3, "{pages:?}");
}

#[test]
fn a_start_that_does_not_match_is_read_for_its_links() {
    let (project, site) = (Project::new(), Irregular::start());
    let output = fetch(&project, &site, "/clock/").args(["--match", "/clock/[ab]$"]).run();
    let pages = report(&site, output.answer());
    let expected = [("/clock/", "refused"), ("/clock/a", "added"), ("/clock/b", "added")];
    assert_eq!(verdicts(&pages), expected.into());
}

#[test]
fn a_dry_run_lists_what_the_run_would_do() {
    let (project, site) = (Project::new(), Irregular::start());
    let lines = fetch(&project, &site, "/kinds/").args(["--dry-run", "--jsonl", "--max-pages", "2"]).run_raw();
    let lines = String::from_utf8(lines.stdout).unwrap();
    let pages: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kept = pages.iter().filter(|page| page["kept"] == true).count();
    assert_eq!((pages.len(), kept), (5, 2), "{lines}");
    let of_other_schemes = pages.iter().filter(|page| page["reason"] == "it is not an http or https address").count();
    assert_eq!(of_other_schemes, 2, "{lines}");

    run(&project, &site, "/kinds/");
    let reports = || fs::read_dir(project.path().join("kb/cache/reports")).unwrap().count();
    let before = reports();
    let output = project.tool("refresh-knowledge-base").args(["--kb-root", "kb", "--dry-run"]).run();
    assert_eq!(report(&site, output.answer()).len(), 2);
    assert_eq!(reports(), before);
}

#[test]
fn a_script_does_not_lead_out_of_the_section() {
    let (project, site) = (Project::new(), Irregular::start());
    let url = site.url("/scripts/");
    let output = project.tool("http-fetch").args(["--url", &url, "--section", "--kb-root", "kb"]).run();
    let pages = report(&site, output.answer());
    let expected = [("/scripts/", "added"), ("/scripts/out", "refused"), ("/scripts/private", "refused")];
    assert_eq!(verdicts(&pages), expected.into());
    project.tool("browser-close").run().answer();
}
