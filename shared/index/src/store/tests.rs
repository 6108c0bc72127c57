//! The documents that an index is made of, and the place of its files.

use super::*;
use crate::tests::Base;

fn listed(base: &Base) -> ListedDocuments {
    let (folder, root) = (base.catalog.folder().unwrap(), base.catalog.root().unwrap());
    ListedDocuments::of(&base.catalog.read().unwrap(), &folder, &root)
}

fn paths(listed: &ListedDocuments) -> Vec<(&str, bool)> {
    listed.sources.iter().map(|source| (source.path.as_str(), source.stamp == Stamp::NONE)).collect()
}

#[test]
fn the_name_of_an_index_does_not_change_between_versions() {
    // The published values of FNV-1a.
    for (text, expected) in
        [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
    {
        assert_eq!(hash(text.bytes()), expected, "{text}");
    }
}

#[test]
fn a_document_is_listed_once_and_a_missing_one_has_no_stamp() {
    let base = Base::new(&[("a.md", "# A\n"), ("\u{6f6e}.md", "# B\n"), ("gone.md", "x")]);
    fs::remove_file(base.folder.path().join("gone.md")).unwrap();
    let entry =
        |path: &str| serde_json::json!({"path": path, "url": format!("https://x.example/{path}"), "title": "T"});
    let documents = ["a.md", "./a.md", "\u{6f6e}.md", "gone.md"].map(entry);
    fs::write(base.catalog.file(), serde_json::json!({"title": "Tides", "documents": documents}).to_string()).unwrap();
    let listed = listed(&base);
    let gone = base.catalog.folder().unwrap().join("gone.md").to_string_lossy().into_owned();
    assert_eq!(paths(&listed), [("a.md", false), ("\u{6f6e}.md", false), (gone.as_str(), true)]);
    assert_eq!((listed.title.as_str(), listed.outside), ("Tides", 0));
}

#[test]
fn a_text_is_read_only_if_it_is_a_regular_file_in_utf_8() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.md");
    fs::write(&file, "\u{6f6e}\r\n").unwrap();
    let (read_stamp, text) = read(&file).unwrap();
    assert_eq!((read_stamp, text.as_str()), (stamp(&file), "\u{6f6e}\r\n"));
    fs::write(&file, b"\xff").unwrap();
    assert!(read(&file).is_none() && read(folder.path()).is_none() && read(&folder.path().join("no")).is_none());
    assert_eq!(stamp(&folder.path().join("no")), Stamp::NONE);
}

#[test]
fn a_change_of_what_the_catalog_says_is_a_change_of_the_document() {
    let source = |title: Option<&str>, stale| SourceFile {
        path: "a.md".to_owned(),
        file: PathBuf::new(),
        stamp: Stamp { size: 1, modified: 2 },
        given: [title.map(str::to_owned), None, Some("2026".to_owned())],
        stale,
    };
    assert_eq!((source(Some("T"), false).bits(), source(None, false).bits()), (0b101, 0b100));
    let mut builder = Builder::new();
    let one = source(Some("T"), false);
    one.add_to(&mut builder);
    let reader = Reader::open(SegmentSource::Memory(builder.finish(Stamp::NONE, 1, 0, &Trailer::default()))).unwrap();
    let mut seen = 0;
    let is_same = |indexed: &IndexedDocument<'_>| {
        // Its file is missing.
        let same =
            |other: &SourceFile| SourceFile { stamp: Stamp::NONE, ..source(other.given[0].as_deref(), other.stale) };
        assert!(same(&one).is_same(indexed) && !one.is_same(indexed));
        for other in [source(Some("U"), false), source(None, false), source(Some("T"), true)] {
            assert!(!same(&other).is_same(indexed));
        }
        seen += 1;
    };
    let mut is_same = is_same;
    reader.each(0..1, |_, _, indexed| is_same(indexed)).unwrap();
    assert_eq!(seen, 1);
}

#[cfg(unix)]
#[test]
fn an_index_is_private_and_written_through_no_link() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join(FOLDER);
    write(&place, ALL, b"x").unwrap();
    let mode = fs::metadata(place.join(ALL)).unwrap().permissions().mode();
    assert_eq!((mode & 0o777, fs::read(place.join(ALL)).unwrap()), (0o600, b"x".to_vec()));
    assert!(fs::read_to_string(place.join(".gitignore")).unwrap().ends_with("\n*\n"));
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
    assert!(write(&link, ALL, b"x").is_err());
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}
