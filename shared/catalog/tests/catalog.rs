//! A catalog as a file: made, changed, refused, and left alone.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::Duration,
};

use ragmaker_catalog::{
    Access, CATALOG_CORRUPT, CATALOG_LOCKED, CATALOG_NOT_READABLE, CATALOG_NOT_WRITABLE, Catalog, Description, Entry,
    Header, RecordOutcome, now,
};
use ragmaker_tool::Invocation;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A temporary folder, and the path of a catalog in it that does not exist yet.
fn fresh() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("catalog.json");
    (folder, file)
}

fn page(file: &Path, url: &str) -> Entry {
    Entry::new(url, "A page", file.with_file_name("page.md"))
}

fn record(file: &Path, url: &str) -> RecordOutcome {
    Catalog::at(file).unwrap().record(&page(file, url)).unwrap()
}

fn read(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_catalog_grows_from_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let catalog =
        Catalog::locate(Some(&folder.path().join("kb")), None, Access::Write, &Invocation::default()).unwrap();
    let cache = folder.path().join("kb/cache");
    let entry = |title: &str| Entry::new("https://x/a", title, cache.join("a.md"));
    // The folder of a document exists before the document is recorded.
    fs::create_dir_all(&cache).unwrap();
    assert_eq!(catalog.record(&entry("A").with("summary", "s").with("url", "z")).unwrap(), RecordOutcome::Added);
    assert_eq!(catalog.record(&page(catalog.file(), "https://x/b")).unwrap(), RecordOutcome::Added);
    assert_eq!(catalog.record(&entry("B")).unwrap(), RecordOutcome::Updated);
    let header = Header { title: Some("T".into()), ..Header::default() };
    let Description { header, documents } = catalog.describe(&header).unwrap();
    assert_eq!(documents, 2);
    let expected = format!(
        r#"{{
  "title": "T",
  "summary": "",
  "source_url": "",
  "src_type": "web",
  "fetched_at": "{}",
  "documents": [
    {{"url": "https://x/a", "title": "B", "path": "a.md", "summary": "s"}},
    {{"url": "https://x/b", "title": "A page", "path": "page.md"}}
  ]
}}
"#,
        header.fetched_at.unwrap()
    );
    assert_eq!(fs::read_to_string(catalog.file()).unwrap(), expected);
    assert_eq!(names(&cache), [".catalog.json.lock", "catalog.json"]);
}

#[test]
fn now_is_utc_in_whole_seconds() {
    let now = now();
    assert_eq!((now.len(), &now[10..11], &now[19..]), (20, "T", "Z"), "{now}");
}

#[test]
fn leftovers_of_a_killed_writer_are_removed() {
    let (folder, file) = fresh();
    record(&file, "https://x/a");
    fs::write(folder.path().join(".catalog.json.tmp"), "{\"docum").unwrap();
    record(&file, "https://x/b");
    assert_eq!(read(&file)["documents"].as_array().unwrap().len(), 2);
    assert_eq!(names(folder.path()), [".catalog.json.lock", "catalog.json"]);
}

#[test]
fn a_corrupt_catalog_is_reported_and_left_alone() {
    let (folder, file) = fresh();
    for (text, line, column) in [
        (&b""[..], 1, 1),
        (b"\n\n  [1]", 3, 3),
        (b"{\n \"documents\": [],\n \"documents\": []\n}", 3, 15),
        (b"\xEF\xBB\xBF[\"documents\"]", 1, 4),
        (b"{\"documents\": [\n{\"url\": \"a\"},\n{\"url\": tru}]}", 3, 12),
        (b"{\"documents\": [\n{\"url\": \"a\"}", 2, 13),
    ] {
        fs::write(&file, text).unwrap();
        let catalog = Catalog::at(&file).unwrap();
        let header = Header { title: Some("T".into()), ..Header::default() };
        for error in [catalog.record(&page(&file, "a")).unwrap_err(), catalog.describe(&header).unwrap_err()] {
            assert!(error.is(CATALOG_CORRUPT), "{error}");
            let place = (&error.details()["line"], &error.details()["column"]);
            assert_eq!(place, (&json!(line), &json!(column)), "{error}");
        }
        assert_eq!(fs::read(&file).unwrap(), text);
        assert_eq!(names(folder.path()), [".catalog.json.lock", "catalog.json"]);
    }
}

#[test]
fn a_large_catalog_is_changed_as_a_small_one_is() {
    let (folder, file) = fresh();
    let entry = |n: usize| format!("    {{\"url\": \"https://x/{n}\", \"n\": 1e2, \"text\": \"{}\"}}", "é".repeat(500));
    let text = |entries: &[String]| format!("{{\n  \"documents\": [\n{}\n  ]\n}}\n", entries.join(",\n"));
    let mut entries: Vec<String> = (0..9000).map(entry).collect();
    fs::write(&file, text(&entries)).unwrap();
    assert!(fs::metadata(&file).unwrap().len() > 8 << 20);

    record(&file, "https://y");
    entries.push(r#"    {"url": "https://y", "title": "A page", "path": "page.md"}"#.into());
    assert!(fs::read_to_string(&file).unwrap() == text(&entries), "an entry is added at the end");

    record(&file, "https://x/4500");
    entries[4500].pop();
    entries[4500] += r#", "title": "A page", "path": "page.md"}"#;
    assert!(fs::read_to_string(&file).unwrap() == text(&entries), "an entry in the middle is updated");

    let header = Header { title: Some("T".into()), fetched_at: Some("F".into()), ..Header::default() };
    assert_eq!(Catalog::at(&file).unwrap().describe(&header).unwrap().documents, 9001);
    let described = text(&entries).replacen("  \"doc", "  \"title\": \"T\",\n  \"fetched_at\": \"F\",\n  \"doc", 1);
    assert!(fs::read_to_string(&file).unwrap() == described, "the header is made at the start");

    let cut = &described[..described.len() - 5];
    fs::write(&file, cut).unwrap();
    let error = Catalog::at(&file).unwrap().record(&page(&file, "https://z")).unwrap_err();
    assert!(error.is(CATALOG_CORRUPT), "{error}");
    assert!(fs::read_to_string(&file).unwrap() == cut);
    assert_eq!(names(folder.path()), [".catalog.json.lock", "catalog.json"]);
}

#[test]
fn a_lock_that_is_never_released_is_told() {
    let (folder, file) = fresh();
    record(&file, "https://x/a");
    let before = fs::read(&file).unwrap();
    let other = File::open(folder.path().join(".catalog.json.lock")).unwrap();
    other.lock().unwrap();
    let catalog = Catalog::at(&file).unwrap().waiting(Duration::from_millis(20));
    let error = catalog.record(&page(&file, "https://x/b")).unwrap_err();
    assert!(error.is(CATALOG_LOCKED), "{error}");
    assert_eq!(fs::read(&file).unwrap(), before);
    // Who waits gets it as soon as the other is gone.
    let waiting = std::thread::spawn({
        let file = file.clone();
        move || record(&file, "https://x/b")
    });
    drop(other);
    assert_eq!(waiting.join().unwrap(), RecordOutcome::Added);
}

#[test]
fn a_catalog_path_that_is_no_file_is_an_error() {
    let (folder, file) = fresh();
    fs::create_dir(&file).unwrap();
    let error = Catalog::at(&file).unwrap().record(&page(&file, "a")).unwrap_err();
    assert!(error.is(CATALOG_NOT_READABLE) && error.message().contains("folder"), "{error}");
    assert_eq!(names(folder.path()), ["catalog.json"], "no lock is left");

    let other = folder.path().join("file");
    fs::write(&other, "").unwrap();
    let inside = other.join("catalog.json");
    let error = Catalog::at(&inside).unwrap().describe(&Header::default()).unwrap_err();
    assert!(error.is(CATALOG_NOT_READABLE) || error.is(CATALOG_NOT_WRITABLE), "{error}");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::{
        os::unix::fs::{MetadataExt, PermissionsExt, symlink},
        process::Command,
    };

    fn refused(file: &Path) -> ragmaker_tool::Error {
        Catalog::at(file).unwrap().waiting(Duration::from_secs(5)).record(&page(file, "a")).unwrap_err()
    }

    #[test]
    fn pipes_devices_and_loops_are_told_at_once() {
        let (folder, file) = fresh();
        assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert!(refused(&file).is(CATALOG_NOT_READABLE));
        fs::remove_file(&file).unwrap();
        symlink("/dev/zero", &file).unwrap();
        let error = Catalog::at(&file).unwrap().describe(&Header::default()).unwrap_err();
        assert!(error.is(CATALOG_NOT_READABLE), "{error}");
        fs::remove_file(&file).unwrap();
        symlink(&file, &file).unwrap();
        assert!(refused(&file).is(CATALOG_NOT_READABLE));
        fs::remove_file(&file).unwrap();
        let lock = folder.path().join(".catalog.json.lock");
        assert!(Command::new("mkfifo").arg(&lock).status().unwrap().success());
        assert!(refused(&file).is(CATALOG_NOT_WRITABLE));
    }

    #[test]
    fn links_are_followed_and_stay() {
        let (folder, file) = fresh();
        let target = folder.path().join("store/real.json");
        fs::create_dir(folder.path().join("link")).unwrap();
        let link = folder.path().join("link/catalog.json");
        symlink("../catalog.json", &link).unwrap();
        symlink("store/real.json", &file).unwrap();
        // Through two links, to a file that is yet to be made in a folder that is, too.
        assert_eq!(record(&link, "https://x/a"), RecordOutcome::Added);
        assert_eq!(record(&target, "https://x/a"), RecordOutcome::Updated);
        assert!(link.is_symlink() && file.is_symlink() && !target.is_symlink());
        assert_eq!(read(&link)["documents"][0]["path"], "page.md");
        assert_eq!(names(&folder.path().join("store")), [".real.json.lock", "real.json"]);
    }

    #[test]
    fn a_link_that_leads_to_no_catalog_makes_nothing_when_it_is_read() {
        let (folder, file) = fresh();
        symlink("store/real.json", &file).unwrap();
        let error = Catalog::at(&file).unwrap().read().unwrap_err();
        assert!(error.is(ragmaker_catalog::CATALOG_NOT_FOUND), "{error}");
        assert_eq!(names(folder.path()), ["catalog.json"]);
    }

    #[test]
    fn mode_and_owner_are_kept() {
        let (_folder, file) = fresh();
        record(&file, "https://x/a");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        // Only root may give the file away; otherwise its owner is who it was.
        let given = std::os::unix::fs::chown(&file, Some(1234), Some(1234)).is_ok();
        let before = fs::metadata(&file).unwrap();
        record(&file, "https://x/b");
        let after = fs::metadata(&file).unwrap();
        assert_eq!((after.mode() & 0o7777, after.uid(), after.gid()), (0o640, before.uid(), before.gid()));
        assert!(!given || after.uid() == 1234);
        assert_ne!(after.ino(), before.ino());
    }

    #[test]
    fn a_read_only_catalog_stays_as_it_is() {
        let (_folder, file) = fresh();
        record(&file, "https://x/a");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        let before = fs::read(&file).unwrap();
        assert!(refused(&file).is(CATALOG_NOT_WRITABLE));
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}
