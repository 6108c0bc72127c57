//! Document files: Markdown with YAML front matter, named after the address of the page.
//!
//! The same page always has the same file name, so fetching it again replaces the file. Two pages never have the same
//! file name. Whatever characters the address or the title has, the file stays in its folder, and the front matter is
//! valid YAML.
//!
//! ```
//! use ragmaker_document::{DocumentFile, parse};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let document = DocumentFile {
//!     source_url: "https://example.com/tides",
//!     title: "Tides: two a day",
//!     fetched_at: "2026-01-02T03:04:05Z",
//!     fields: &[("lang", "en")],
//!     markdown: "# Tides\n",
//! };
//! let file = document.save(folder.path())?;
//! let text = std::fs::read_to_string(file)?;
//! let parsed = parse(&text)?;
//! assert_eq!(parsed.field("title"), Some("Tides: two a day"));
//! assert_eq!(parsed.body, "\n# Tides\n");
//! # Ok(())
//! # }
//! ```

mod front_matter;
mod login;
pub mod sections;
mod sign_in_form;
mod text;
mod wrong_page;

use std::{
    fmt::Write as _,
    fs,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

use percent_encoding::percent_decode_str;
use ragmaker_fs::{Replace, open_derived_file, write_atomically};
use ragmaker_tool::{
    Code, Error,
    json::{self, Charset},
};
use sha2::{Digest, Sha256};
use url::Url;

pub use front_matter::{FrontMatterError, Parsed, parse};
pub use login::{is_headed_login, looks_like_login};
pub use sign_in_form::{FormFields, SignInForm};
pub use text::DocumentText;
pub use wrong_page::WrongPage;

/// The document could not be written.
pub const OUTPUT_DIR_NOT_WRITABLE: Code = Code::new("OUTPUT_DIR_NOT_WRITABLE", "Name a writable folder.");

/// The maximum size in bytes of a file name before its hash; file systems allow 255 in all.
const MAX_READABLE: usize = 120;

/// The number of bytes of a file that are searched for the end of its front matter.
const MAX_FRONT_MATTER: u64 = 256 << 10;

/// A document to be written.
#[derive(Clone, Debug)]
pub struct DocumentFile<'a> {
    /// The address of the page.
    pub source_url: &'a str,
    /// Its title.
    pub title: &'a str,
    /// When it was fetched, in RFC 3339.
    pub fetched_at: &'a str,
    /// Further facts, in the order of the front matter.
    pub fields: &'a [(&'a str, &'a str)],
    /// Its content.
    pub markdown: &'a str,
}

impl DocumentFile<'_> {
    /// The file's text: front matter, a blank line, the content.
    pub fn text(&self) -> String {
        let mut text = String::from("---\n");
        // The source first: a reader of the second line knows who wrote what follows.
        let own = [("source_url", self.source_url), ("title", self.title), ("fetched_at", self.fetched_at)];
        for (name, value) in own.iter().chain(self.fields) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name}: {}", scalar(value));
        }
        text.push_str("---\n\n");
        text.push_str(self.markdown.trim_end());
        text.push('\n');
        text
    }

    /// Writes the file to `folder`, which is created if necessary, and returns its absolute path. The file is written
    /// completely, replacing an older one, or not at all.
    ///
    /// # Errors
    ///
    /// [`OUTPUT_DIR_NOT_WRITABLE`] where the folder or the file cannot be written, or something that is
    /// not a file has its name. An older file is then as it was.
    pub fn save(&self, folder: &Path) -> Result<PathBuf, Error> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let path = folder.join(file_name(self.source_url));
        self.save_as(&path)?;
        Ok(path)
    }

    /// Like [`DocumentFile::save`], but writes to the file `path`, whose name need not be that of the address.
    ///
    /// # Errors
    ///
    /// As for [`DocumentFile::save`].
    pub fn save_as(&self, path: &Path) -> Result<(), Error> {
        let write = || {
            fs::create_dir_all(path.parent().unwrap_or(path))?;
            // The name is on the disk no later than the catalog that lists it, which is written next and
            // synced: file systems keep the order of renames.
            let replace = Replace { replace_link: true, sync_directory: false, ..Replace::default() };
            write_atomically(path, replace, |file| file.write_all(self.text().as_bytes()))
        };
        write().map(drop).map_err(|error: std::io::Error| {
            OUTPUT_DIR_NOT_WRITABLE
                .error(format!("cannot write {}: {error}", path.display()))
                .detail("path", path.to_string_lossy())
        })
    }
}

/// The address from which the document in `file` was saved. `None` for a file that is not a document, and for a link.
pub fn source_url_of(file: &Path) -> Option<String> {
    let mut head = vec![];
    open_derived_file(file, fs::File::options().read(true)).ok()?.take(MAX_FRONT_MATTER).read_to_end(&mut head).ok()?;
    parse(&String::from_utf8_lossy(&head)).ok()?.field("source_url").map(str::to_owned)
}

/// Whether YAML accepts a character of a title or another text without a further escape, after JSON escaping.
pub fn is_text(c: char) -> bool {
    !matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// `text` as a YAML double-quoted scalar, which every JSON string is, once it is all [`is_text`].
fn scalar(text: &str) -> String {
    let text: String = text.chars().filter(|c| is_text(*c)).collect();
    let mut bytes = vec![];
    // Serializing a string to memory cannot fail.
    let _ = json::write(&text, Charset::Utf8, &mut bytes);
    String::from_utf8_lossy(&bytes).trim_end().to_owned()
}

/// The file name of the page at `url`: the readable parts of its host and path, and a hash of the complete address.
///
/// ```
/// let name = ragmaker_document::file_name("https://example.com/docs/intro.html?v=2");
/// assert_eq!(name, "example.com-docs-intro.html-v-2-f71f4d8c19.md");
/// ```
pub fn file_name(url: &str) -> String {
    let hash = format!("{:.10x}", Sha256::digest(url));
    let readable = Url::parse(url).map_or_else(
        |_| url.to_owned(),
        |url| {
            let host = url.host_str().unwrap_or_default().trim_start_matches("www.");
            let rest =
                [Some(url.path()), url.query(), url.fragment()].into_iter().flatten().collect::<Vec<_>>().join("/");
            format!("{host}/{}", percent_decode_str(&rest).decode_utf8_lossy())
        },
    );
    let mut name = String::new();
    for c in readable.chars() {
        let c = if c.is_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
        if name.len() + c.len_utf8() > MAX_READABLE {
            break;
        }
        // No run of dashes, no dots that mean a folder, no hidden file.
        let doubled = matches!(c, '-' | '.') && name.chars().next_back().is_none_or(|last| matches!(last, '-' | '.'));
        if !doubled {
            name.push(c);
        }
    }
    let name = name.trim_end_matches(['-', '.']);
    if name.is_empty() { format!("page-{hash}.md") } else { format!("{name}-{hash}.md") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use saphyr::{LoadableYamlNode, Yaml};

    #[test]
    fn names_are_readable_and_stay_in_their_folder() {
        let stem = |url: &str| file_name(url).rsplit_once('-').unwrap().0.to_owned();
        assert_eq!(stem("https://www.example.com/"), "example.com");
        assert_eq!(stem("https://ja.example.org/wiki/%E6%97%A5%E6%9C%AC%E8%AA%9E"), "ja.example.org-wiki-日本語");
        assert_eq!(stem("https://x.example/../../etc/passwd"), "x.example-etc-passwd");
        assert_eq!(stem("http://127.0.0.1:8000/a/%2e%2e%2f%2e%2e/b?c=/../d"), "127.0.0.1-a-b-c-d");
        assert_ne!(file_name("https://x.example/A"), file_name("https://x.example/a"));
    }

    #[test]
    fn a_page_saved_again_replaces_itself() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a b/日本");
        let mut page = DocumentFile {
            source_url: "https://x.example/p",
            title: "A: \"b\"\n---\n# c",
            fetched_at: "2026-01-02T03:04:05Z",
            fields: &[("lang", "en")],
            markdown: "# One\n",
        };
        let first = page.save(&deep).unwrap();
        page.markdown = "# Two\n\n\n";
        assert_eq!(page.save(&deep).unwrap(), first);
        let text = fs::read_to_string(&first).unwrap();
        assert_eq!(
            text,
            "---\nsource_url: \"https://x.example/p\"\ntitle: \"A: \\\"b\\\"\\n---\\n# c\"\nfetched_at: \"2026-01-02T03:04:05Z\"\nlang: \"en\"\n---\n\n# Two\n"
        );
        assert_eq!(fs::read_dir(&deep).unwrap().count(), 1);
        assert_eq!(source_url_of(&first).as_deref(), Some("https://x.example/p"));
        fs::write(&first, "# Mine\n").unwrap();
        assert_eq!(source_url_of(&first), None);
    }

    #[test]
    fn a_failed_write_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        let page =
            DocumentFile { source_url: "https://x.example/", title: "", fetched_at: "", fields: &[], markdown: "x" };
        assert!(page.save(&file).unwrap_err().is(OUTPUT_DIR_NOT_WRITABLE));
        // A folder where the file should be.
        fs::create_dir(folder.path().join(file_name(page.source_url))).unwrap();
        assert!(page.save(folder.path()).unwrap_err().is(OUTPUT_DIR_NOT_WRITABLE));
        // A pipe there is not replaced.
        #[cfg(unix)]
        {
            let socket = folder.path().join(file_name("https://x.example/s"));
            let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
            let page = DocumentFile { source_url: "https://x.example/s", ..page.clone() };
            assert!(page.save(folder.path()).unwrap_err().is(OUTPUT_DIR_NOT_WRITABLE));
            assert!(!fs::metadata(&socket).unwrap().is_file());
            fs::remove_file(&socket).unwrap();
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    proptest! {
        #[test]
        fn any_address_names_a_plain_file(url in r"(https?://|)[a-z./%]{0,12}.*") {
            let name = file_name(&url);
            prop_assert!(name.len() < 160 && Path::new(&name).extension().is_some_and(|extension| extension == "md") && !name.starts_with('.') && !name.contains(".."), "{name}");
            prop_assert!(name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_')), "{name}");
            prop_assert_eq!(Path::new(&name).components().count(), 1);
            prop_assert_eq!(&name, &file_name(&url));
        }

        #[test]
        fn front_matter_always_parses(title in any::<String>(), url in ".*") {
            let page = DocumentFile { source_url: &url, title: &title, fetched_at: "t", fields: &[("author", &title)], markdown: "text" };
            let text = page.text();
            let front = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).unwrap().0;
            let yaml = Yaml::load_from_str(front).unwrap();
            let expected: String = title.chars().filter(|c| is_text(*c)).collect();
            prop_assert_eq!(yaml[0]["title"].as_str(), Some(expected.as_str()));
            prop_assert_eq!(yaml[0]["author"].as_str(), Some(expected.as_str()));
        }
    }
}
