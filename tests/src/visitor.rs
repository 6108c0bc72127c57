//! A project with a test site and a browser, with which the tests of the browser tools begin.

use std::{
    fs, iter, panic,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use saphyr::{LoadableYamlNode, YamlOwned};
use serde_json::Value;

use crate::{
    run::{Output, Project, Tool},
    site::Site,
};

/// Where [`Visitor::extract`] saves, below the project.
const SAVED: &str = "saved";

/// Where it keeps its knowledge base.
const BASE: &str = "kb";

/// A project and a site of its own, for the browser tools to bring together.
pub struct Visitor {
    /// Where the tools run.
    pub project: Project,
    /// The visited site.
    pub site: Site,
}

impl Visitor {
    /// A visitor whose browser is not open.
    pub fn new() -> Self {
        Self::of(Project::new())
    }

    /// A visitor whose browser is open, so that many pages share one start.
    pub fn with_browser() -> Self {
        let visitor = Self::new();
        visitor.open().run().answer();
        visitor
    }

    /// A visitor from `project`.
    pub fn of(project: Project) -> Self {
        Self { project, site: Site::start() }
    }

    /// `ragmaker-browser-open`.
    pub fn open(&self) -> Tool {
        self.project.tool("browser-open")
    }

    /// `ragmaker-browser-close`.
    pub fn close(&self) -> Tool {
        self.project.tool("browser-close")
    }

    /// `ragmaker-browser-navigate` to a page of the site, or to a whole address.
    pub fn navigate(&self, page: &str) -> Tool {
        self.project.tool("browser-navigate").args(["--url", &self.url(page)])
    }

    /// `ragmaker-browser-look` at the page that is open.
    pub fn look(&self) -> Tool {
        self.project.tool("browser-look")
    }

    /// `ragmaker-browser-act` in a page of the site, or at a whole address.
    pub fn act(&self, page: &str, steps: &str) -> Tool {
        self.act_open(steps).args(["--url", &self.url(page)])
    }

    /// `ragmaker-browser-act` in the page that is open.
    pub fn act_open(&self, steps: &str) -> Tool {
        self.project.tool("browser-act").args(["--do", steps])
    }

    /// `ragmaker-browser-extract` of a page of the site, or of a whole address.
    pub fn extract(&self, page: &str) -> Tool {
        self.extract_open().args(["--url", &self.url(page)])
    }

    /// `ragmaker-browser-extract` of the page that is open.
    pub fn extract_open(&self) -> Tool {
        self.project.tool("browser-extract").args(["--output-dir", SAVED, "--kb-root", BASE])
    }

    /// The address of a page of the site; a whole address is taken as it is.
    pub fn url(&self, page: &str) -> String {
        if page.starts_with('/') { self.site.url(page) } else { page.to_owned() }
    }

    /// The files that were saved, in the order of their names.
    pub fn saved(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.project.path().join(SAVED)).into_iter().flatten();
        let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        files
    }

    /// The catalog's file.
    pub fn catalog_file(&self) -> PathBuf {
        self.project.path().join(BASE).join("cache/catalog.json")
    }

    /// The catalog's documents; none where there is no catalog.
    ///
    /// # Panics
    ///
    /// Where the catalog is not what it has to be.
    pub fn documents(&self) -> Vec<Value> {
        let Ok(text) = fs::read(self.catalog_file()) else { return vec![] };
        let catalog: Value = serde_json::from_slice(&text).expect("the catalog is JSON");
        catalog["documents"].as_array().expect("the catalog has documents").clone()
    }

    /// Saves a page that has to be saved.
    pub fn save(&self, page: &str) -> Saved {
        Saved::by(&self.extract(page).run())
    }

    /// Saves the whole of a page that has to be saved, whatever of it is its main content.
    pub fn save_whole(&self, page: &str) -> Saved {
        Saved::by(&self.extract(page).args(["--selector", "body"]).run())
    }

    /// Asserts that a page cannot be saved because of `code`, and that nothing was.
    ///
    /// # Panics
    ///
    /// Where it was, or failed otherwise.
    pub fn refuse(&self, page: &str, code: &str) -> Value {
        let (files, documents) = (self.saved(), self.documents());
        let error = self.extract(page).run().error(code).clone();
        assert_eq!((self.saved(), self.documents()), (files, documents), "{page}: something was saved");
        error
    }
}

impl Default for Visitor {
    fn default() -> Self {
        Self::new()
    }
}

/// A file that was saved.
pub struct Saved {
    /// Its absolute path.
    pub path: PathBuf,
    /// The content after the front matter.
    pub markdown: String,
    front: YamlOwned,
}

impl Saved {
    /// The document that a run of `ragmaker-browser-extract` saved.
    ///
    /// # Panics
    ///
    /// Where it failed.
    pub fn by(run: &Output) -> Self {
        Self::read(Path::new(run.answer()["file_path"].as_str().expect("the answer names the file")))
    }

    /// Reads a saved file.
    ///
    /// # Panics
    ///
    /// Where it is not front matter that parses, and Markdown.
    pub fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("the file is text");
        let parts = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n\n"));
        let (front, markdown) = parts.unwrap_or_else(|| panic!("no front matter: {text}"));
        let mut yaml = YamlOwned::load_from_str(front).unwrap_or_else(|error| panic!("{error}\n{front}"));
        assert_eq!(yaml.len(), 1, "{front}");
        Self { path: path.to_owned(), markdown: markdown.to_owned(), front: yaml.swap_remove(0) }
    }

    /// A field of the front matter.
    ///
    /// # Panics
    ///
    /// Where it has none of that name.
    pub fn field(&self, name: &str) -> &str {
        let value = self.front.as_mapping_get(name).and_then(YamlOwned::as_str);
        value.unwrap_or_else(|| panic!("{}: no {name}", self.path.display()))
    }

    /// Whether the Markdown has a line that is `line`, spaces around it left out.
    pub fn has_line(&self, line: &str) -> bool {
        self.markdown.lines().any(|own| own.trim() == line)
    }
}

/// Does `work` with each of `items`, `width` of them at once, and returns what it made of them in
/// their order.
///
/// # Panics
///
/// Where the work does.
pub fn at_once<T: Sync, R: Send>(width: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, work) = (AtomicUsize::new(0), &work);
    let worker = || {
        let turns = iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&turn| turn < items.len()));
        turns.map(|turn| (turn, work(&items[turn]))).collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        let workers: Vec<_> = (0..width).map(|_| scope.spawn(worker)).collect();
        let done = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
        done.flatten().collect::<Vec<_>>()
    });
    done.sort_by_key(|(turn, _)| *turn);
    done.into_iter().map(|(_, made)| made).collect()
}
