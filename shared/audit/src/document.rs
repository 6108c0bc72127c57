//! Checks of one document: its file, its front matter, its text.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use ragmaker_catalog::Listed;
use ragmaker_document::{DocumentText, WrongPage};
use sha2::{Digest, Sha256};

use crate::finding::{Finding, FindingKind};

/// The largest document that is read, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// A document that was read.
pub(crate) struct Checked {
    /// The path of its file, with symbolic links resolved.
    pub(crate) file: PathBuf,
    /// The SHA-256 of its text.
    pub(crate) hash: [u8; 32],
    /// The confidence of the extraction, between 0 and 1, if the front matter has one.
    pub(crate) confidence: Option<f64>,
    /// Whether it has no text except its headings.
    pub(crate) has_headings_only: bool,
}

/// Checks the document `listed` of the catalog in `folder`, which belongs to the knowledge base `root`, and
/// adds to `findings`. Both paths are without symbolic links. Returns `None` if the file cannot be read.
pub(crate) fn check(listed: &Listed, folder: &Path, root: &Path, findings: &mut Vec<Finding>) -> Option<Checked> {
    let (path, url) = (listed.path.as_deref(), listed.url.as_deref());
    let mut found = |kind, message: String| findings.push(Finding::new(kind, message).at(path, url));
    if url.is_none() {
        found(FindingKind::UrlMissing, "the catalog has no url for the document".into());
    }
    if listed.title.is_none() {
        found(FindingKind::DocumentTitleMissing, "the catalog has no title for the document".into());
    }
    let Some(given) = path else {
        found(FindingKind::PathMissing, "the catalog has no path for the document".into());
        return None;
    };
    let file = match ragmaker_fs::canonicalize(folder.join(given)) {
        Ok(file) => file,
        Err(error) => {
            found(FindingKind::FileMissing, format!("the file cannot be found: {error}"));
            return None;
        }
    };
    if !file.starts_with(root) {
        found(FindingKind::PathOutside, format!("the file is outside the knowledge base: {}", file.display()));
        return None;
    }
    let text = match read(&file) {
        Ok(text) => text,
        Err(reason) => {
            found(FindingKind::NotReadable, reason);
            return None;
        }
    };
    let mut confidence = None;
    let (title, body) = match ragmaker_document::parse(&text) {
        Ok(parsed) => {
            match (parsed.field("source_url"), url) {
                (Some(source), Some(url)) if source != url => {
                    found(
                        FindingKind::SourceMismatch,
                        format!("the front matter of the file has a different source_url: {source}"),
                    );
                }
                (None, _) => found(FindingKind::FrontMatterInvalid, "the front matter has no source_url".into()),
                _ => {}
            }
            confidence = parsed.field("confidence").and_then(|confidence| confidence.parse().ok());
            (parsed.field("title").unwrap_or_default().to_owned(), parsed.body)
        }
        Err(error) => {
            found(FindingKind::FrontMatterInvalid, error.to_string());
            (String::new(), text.as_str())
        }
    };
    let text = DocumentText::of(body);
    if text == DocumentText::Missing {
        found(FindingKind::EmptyDocument, "the document has no text".into());
    } else if let Some(page) = WrongPage::recognize(&title, body) {
        let kind = match page {
            WrongPage::Challenge => FindingKind::ChallengePage,
            WrongPage::Error => FindingKind::ErrorPage,
            WrongPage::Login => FindingKind::LoginPage,
        };
        found(kind, format!("the document looks like {}: {title:?}", page.name()));
    }
    let has_headings_only = text == DocumentText::Headings;
    Some(Checked { file, hash: Sha256::digest(body.trim()).into(), confidence, has_headings_only })
}

/// The text of a regular file, or the reason why it cannot be read.
fn read(file: &Path) -> Result<String, String> {
    // Opening a named pipe would block, so the type of the file is checked first.
    let kind = fs::metadata(file).map_err(|error| error.to_string())?;
    if !kind.is_file() {
        return Err("it is not a regular file".into());
    }
    let mut bytes = vec![];
    let opened = File::open(file).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    opened.map_err(|error| format!("it cannot be read: {error}"))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it has more than {MAX_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| format!("it is not UTF-8 (byte {})", error.utf8_error().valid_up_to()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://x.example/a";

    /// A document with this front matter and body.
    fn text(fields: &str, body: &str) -> String {
        format!("---\nsource_url: {URL}\n{fields}---\n\n{body}\n")
    }

    /// The kinds of findings for the entry `path` of a knowledge base in which the file `a.md` has these bytes, and
    /// what was read.
    fn found(path: &str, bytes: impl AsRef<[u8]>) -> (Vec<FindingKind>, Option<Checked>) {
        let temp = tempfile::tempdir().unwrap();
        let top = ragmaker_fs::canonicalize(temp.path()).unwrap();
        let (root, folder) = (top.join("kb"), top.join("kb/cache"));
        fs::create_dir_all(folder.join("folder.md")).unwrap();
        fs::write(folder.join("a.md"), bytes).unwrap();
        fs::write(top.join("outside.md"), text("", "Text.")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(top.join("outside.md"), folder.join("link.md")).unwrap();
        let listed = Listed {
            url: Some(URL.to_owned()),
            title: Some("A".to_owned()),
            path: Some(path.to_owned()),
            ..Listed::default()
        };
        let mut findings = vec![];
        let checked = check(&listed, &folder, &root, &mut findings);
        (findings.into_iter().map(|finding| finding.kind).collect(), checked)
    }

    #[test]
    fn a_file_that_is_not_one_of_the_knowledge_base_is_not_read() {
        for (path, kind) in [
            ("none.md", FindingKind::FileMissing),
            ("../../outside.md", FindingKind::PathOutside),
            ("/etc/passwd", FindingKind::PathOutside),
            ("folder.md", FindingKind::NotReadable),
            #[cfg(unix)]
            ("link.md", FindingKind::PathOutside),
        ] {
            let (kinds, checked) = found(path, "");
            assert!(kinds == [kind] && checked.is_none(), "{path}: {kinds:?}");
        }
        assert_eq!(found("a.md", b"---\nsource_url: \xff\n---\n").0, [FindingKind::NotReadable]);
        let mut findings = vec![];
        assert!(check(&Listed::default(), Path::new("/kb"), Path::new("/kb"), &mut findings).is_none());
        let kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::UrlMissing, FindingKind::DocumentTitleMissing, FindingKind::PathMissing]);
    }

    #[test]
    fn the_text_of_a_document_is_checked() {
        for (text, expected) in [
            (text("", "Text."), &[][..]),
            (text("", ""), &[FindingKind::EmptyDocument]),
            ("Text.".to_owned(), &[FindingKind::FrontMatterInvalid]),
            ("---\ntitle: A\n---\n\nText.".to_owned(), &[FindingKind::FrontMatterInvalid]),
            ("---\nsource_url: https://y.example/\n---\n\nText.".to_owned(), &[FindingKind::SourceMismatch]),
            (text("title: Just a moment...\n", "Checking your browser."), &[FindingKind::ChallengePage]),
        ] {
            assert_eq!(found("a.md", &text).0, expected, "{text}");
        }
    }

    #[test]
    fn two_documents_with_the_same_body_have_one_hash_whatever_their_front_matter_is() {
        let checked = |fields: &str, body: &str| found("a.md", text(fields, body)).1.unwrap();
        let (one, other) = (checked("confidence: 0.4\n", "# A"), checked("title: B\n", "\n# A\n\n"));
        assert_eq!((one.hash, one.confidence, one.has_headings_only), (other.hash, Some(0.4), true));
        assert_eq!((other.confidence, checked("confidence: high\n", "# A").confidence), (None, None));
        assert!(checked("", "# A\n\nText.").hash != one.hash);
    }
}
