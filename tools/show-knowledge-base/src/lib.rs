//! `ragmaker-show-knowledge-base`: makes an HTML page with which people browse a knowledge base.

mod page;
mod serve;

use std::{io::Write, path::PathBuf};

use argh::{ArgsInfo, FromArgs};
use ragmaker_catalog::{Access, Catalog};
use ragmaker_files::{Roots, lossy_text};
use ragmaker_fs::{Replace, write_atomically};
use ragmaker_project::Project;
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Caller, Code, Error, Invocation, Isolation, JsonSchema, Tool, ToolProfile, host,
};
use serde::Serialize;

use serve::Server;

/// The page cannot be written.
pub const PAGE_NOT_WRITABLE: Code = Code::new("PAGE_NOT_WRITABLE", "Name a file in a writable folder as --output.");
/// The documents exceed the limit for a page.
pub const TOO_MUCH_TEXT: Code =
    Code::new("TOO_MUCH_TEXT", "Split the knowledge base, or search it with ragmaker-search-knowledge-base.");
/// The server cannot be started.
pub const SERVER_NOT_STARTED: Code = Code::new("SERVER_NOT_STARTED", "Write a file with --output instead.");

/// The folder of pages in the project's cache folder.
const PAGES: &str = "pages";

/// Make one HTML page on which a person looks through a knowledge base: documents with summaries, findings
/// and charts, full-text search, a reader. It needs no network and executes no script from documents.
/// Returns the page's file.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// folder of the knowledge base
    #[argh(option)]
    pub kb_root: PathBuf,
    /// file to write (default: a file in the project's cache folder)
    #[argh(option)]
    pub output: Option<PathBuf>,
    /// serve the page on this machine instead, current at each reload, until Ctrl-C
    #[argh(switch)]
    pub serve: bool,
}

/// The page.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path of the file; null with --serve.
    pub file_path: Option<String>,
    /// The URL of the page.
    pub url: String,
    /// The number of documents.
    pub documents: usize,
    /// The number of findings of `verify` on the page.
    pub findings: usize,
    /// The size in bytes.
    pub bytes: usize,
    #[serde(skip)]
    server: Option<Server>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const PROFILES: &'static [ToolProfile] = &[];
    const COMMAND_LINE_FLAGS: &'static [&'static str] = &["--serve"];
    const OPERANDS: &'static [&'static str] = &["--kb-root"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[PAGE_NOT_WRITABLE, TOO_MUCH_TEXT, SERVER_NOT_STARTED],
        ragmaker_catalog::READ_ERRORS,
        ragmaker_files::PATH_ERRORS,
        &[ragmaker_files::PATH_NOT_WRITABLE],
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let catalog = Catalog::locate(Some(&self.kb_root), None, Access::Read, invocation)?;
        if self.serve && self.output.is_some() {
            return Err(ARGUMENT_ERROR.error("--serve and --output cannot be combined").detail("argument", "--output"));
        }
        // Before the page is made, so that a refused path fails at once.
        let file = if self.serve { None } else { Some(self.file(&catalog, invocation)?) };
        let page = page::page(&catalog)?;
        let mut answer = Answer {
            file_path: None,
            url: String::new(),
            documents: page.documents,
            findings: page.findings,
            bytes: page.html.len(),
            server: None,
        };
        if let Some(file) = file {
            let replace = Replace { replace_link: true, sync_directory: false, mode: 0o600, ..Replace::default() };
            write_atomically(&file, replace, |out| out.write_all(page.html.as_bytes()))
                .map_err(|error| not_writable(&file, &error))?;
            let path = lossy_text(file).0;
            answer.url = file_url(&path);
            answer.file_path = Some(path);
        } else {
            let server = Server::start(catalog)?;
            answer.url = server.url();
            answer.server = Some(server);
        }
        Ok(answer)
    }

    fn remain(answer: Answer) {
        if let Some(server) = answer.server {
            server.run();
        }
    }
}

impl Args {
    /// The path to write the page to.
    fn file(&self, catalog: &Catalog, invocation: &Invocation) -> Result<PathBuf, Error> {
        let Some(output) = &self.output else {
            // An unreadable catalog is an error here.
            catalog.read()?;
            let project = Project::discover(invocation.host.project_root.as_deref())?;
            let root = catalog.root().unwrap_or_default();
            let name = root.file_name().map_or_else(|| "knowledge-base".into(), |name| name.to_string_lossy());
            let made = project.create_cache_folder().and_then(|cache| {
                let folder = cache.join(PAGES);
                ragmaker_project::create_private(&folder).map(|()| folder)
            });
            let folder = made.map_err(|error| not_writable(&project.cache_folder(), &error))?;
            return Ok(folder.join(format!("{name}.html")));
        };
        if invocation.caller == Caller::Model {
            let path = Roots::discover(&invocation.host)?.place_to_write(&output.to_string_lossy())?.path();
            // Prevents a page from replacing a document or a configuration file.
            let is_page = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("html"));
            return is_page.then_some(path).ok_or_else(|| {
                ARGUMENT_ERROR.error("--output does not end with .html").detail("argument", "--output")
            });
        }
        let absolute = std::path::absolute(output).map_err(|error| not_writable(output, &error))?;
        if absolute.is_dir() {
            let error = std::io::ErrorKind::IsADirectory.into();
            return Err(not_writable(&absolute, &error));
        }
        Ok(absolute)
    }
}

fn not_writable(path: &std::path::Path, error: &std::io::Error) -> Error {
    PAGE_NOT_WRITABLE.error(format!("cannot write {}: {error}", path.display())).detail("path", path.to_string_lossy())
}

/// The URL of the file at the absolute path `path`.
fn file_url(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~:".contains(&byte);
    let coded = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    // Elsewhere, a backslash is a character of a name.
    let path = if cfg!(windows) { format!("/{}", path.replace('\\', "/")) } else { path.to_owned() };
    format!("file://{}", path.bytes().map(coded).collect::<String>())
}

#[cfg(test)]
mod tests {
    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::HostOptions;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_url_leads_to_the_file() {
        for (path, url) in [
            ("/a b/\u{6f6e}.html", "file:///a%20b/%E6%BD%AE.html"),
            ("/a#b?c%d", "file:///a%23b%3Fc%25d"),
            (r"/a\b", "file:///a%5Cb"),
        ] {
            assert_eq!(file_url(path), url);
        }
    }

    #[cfg(windows)]
    #[test]
    fn a_file_url_leads_to_the_file() {
        assert_eq!(file_url(r"C:\a b\c.html"), "file:///C:/a%20b/c.html");
    }

    /// The file for the page of the knowledge base `kb` in the project `root`.
    fn file(root: &std::path::Path, output: Option<&str>, caller: Caller) -> Result<PathBuf, Error> {
        write(root, "kb/cache/catalog.json", r#"{"documents": []}"#);
        let kb_root = root.join("kb");
        let words: Vec<_> = ["--kb-root", kb_root.to_str().unwrap()].into_iter().collect();
        let output = output.map(|output| ["--output", output]);
        let words: Vec<_> = words.into_iter().chain(output.into_iter().flatten()).collect();
        let project_root = root.to_str().map(str::to_owned);
        let host = HostOptions { project_root, ..HostOptions::default() };
        let invocation = Invocation { host, caller, ..Invocation::default() };
        let catalog = Catalog::locate(Some(&kb_root), None, Access::Read, &invocation)?;
        Args::from_args(&["show"], &words).unwrap().file(&catalog, &invocation)
    }

    #[test]
    fn a_model_writes_pages_in_the_project_alone() {
        let (_holder, root) = folder("project");
        assert_eq!(file(&root, Some("out/page.HTML"), Caller::Model).unwrap(), root.join("out/page.HTML"));
        assert!(file(&root, Some("../page.html"), Caller::Model).unwrap_err().is(ragmaker_files::PATH_NOT_ALLOWED));
        for other in ["ragmaker", "page.md", "html"] {
            assert!(file(&root, Some(other), Caller::Model).unwrap_err().is(ARGUMENT_ERROR), "{other}");
        }
    }

    #[test]
    fn a_person_names_any_file_and_no_folder() {
        let (_holder, root) = folder("project");
        let page = root.join("page.txt");
        assert_eq!(file(&root, page.to_str(), Caller::Person).unwrap(), page);
        assert!(file(&root, root.to_str(), Caller::Person).unwrap_err().is(PAGE_NOT_WRITABLE));
        let own = file(&root, None, Caller::Person).unwrap();
        assert!(own.ends_with("kb.html") && own.starts_with(root.join(".tmp")), "{}", own.display());
    }
}
