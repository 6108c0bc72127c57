//! `ragmaker-enrich-discovery`: sets titles and summaries of many documents in one locked, atomic step.

mod saved;
mod updates;

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};
use ragmaker_catalog::{Access, CATALOG_NOT_FOUND, Catalog};
use ragmaker_tool::{Annotations, Budget, Code, Error, Invocation, JsonSchema, Stdin, Tool, ToolProfile, host};
use serde::Serialize;

pub use updates::UPDATES_NOT_READABLE;

/// No document that was named is in the knowledge base.
pub const NO_DOCUMENT_MATCHED: Code = Code::new(
    "NO_DOCUMENT_MATCHED",
    "Name documents by the path or the url that the catalog or the front matter of a saved page has; ragmaker-read-file shows the catalog.",
);

/// Set titles and summaries of many documents of a knowledge base, by path or URL; a saved page that the catalog does
/// not list is added. For the knowledge base as a whole use `ragmaker-entry-discovery`. Returns what was updated, added
/// and not found.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// folder of the knowledge base (default: the project's)
    #[argh(option)]
    pub kb_root: Option<PathBuf>,
    /// catalog file, instead of --kb-root
    #[argh(option)]
    pub catalog_path: Option<PathBuf>,
    /// JSON array of objects with `path` or `url`, and `title`, `summary` or both; or @FILE, or -
    /// for standard input
    #[argh(option)]
    pub updates: String,
}

/// The changes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The catalog's absolute path.
    pub catalog_file: String,
    /// Documents whose title or summary was set, as the catalog lists them.
    pub updated_paths: Vec<String>,
    /// Files that the catalog lists now and did not before.
    pub added_paths: Vec<String>,
    /// The names that are neither in the catalog nor a file; nothing was set for them.
    pub unmatched: Vec<String>,
    /// The number of updated documents.
    pub updated: usize,
    /// The number of added documents.
    pub added: usize,
    /// Whether the lists were cut because they are too long for an answer. The catalog has all entries.
    pub truncated: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const STDIN: Option<Stdin> = Some(Stdin { argument: "updates", dash: true });
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Gather, ToolProfile::Fetch];
    const ERRORS: &'static [&'static [Code]] = &[
        &[NO_DOCUMENT_MATCHED, UPDATES_NOT_READABLE, CATALOG_NOT_FOUND],
        ragmaker_catalog::ERRORS,
        ragmaker_files::PATH_ERRORS,
        &[ragmaker_files::PATH_NOT_WRITABLE],
    ];
    const JSON_TEXTS: &'static [&'static str] = &["--updates"];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let catalog =
            Catalog::locate(self.kb_root.as_deref(), self.catalog_path.as_deref(), Access::Write, invocation)?;
        let mut updates = updates::read(&self.updates, invocation)?;
        saved::find(&catalog, &mut updates)?;
        let done = catalog.enrich(&updates)?;
        if done.updated.is_empty() && done.added.is_empty() {
            let mut unmatched = done.unmatched;
            unmatched.truncate(MAX_IN_ERROR);
            return Err(NO_DOCUMENT_MATCHED
                .error("--updates names no document of the knowledge base")
                .detail("unmatched", unmatched)
                .detail("catalog_file", catalog.file().to_string_lossy()));
        }
        let answer = Answer {
            catalog_file: catalog.file().to_string_lossy().into_owned(),
            updated_paths: vec![],
            added_paths: vec![],
            unmatched: vec![],
            updated: done.updated.len(),
            added: done.added.len(),
            truncated: false,
        };
        let named = done.updated.len() + done.added.len() + done.unmatched.len();
        let mut budget = Budget::for_frame(&answer);
        // First the names that the caller has to act on.
        let unmatched = budget.take_list(done.unmatched);
        let added_paths = budget.take_list(done.added);
        let updated_paths = budget.take_list(done.updated);
        let truncated = unmatched.len() + added_paths.len() + updated_paths.len() < named;
        Ok(Answer { updated_paths, added_paths, unmatched, truncated, ..answer })
    }
}

/// The maximum number of names that an error lists.
const MAX_IN_ERROR: usize = 20;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The answer to `updates` of a knowledge base whose catalog lists the URLs `https://x.example/0` and following.
    fn run(documents: usize, updates: &[Value]) -> Result<Answer, Error> {
        let folder = tempfile::tempdir().unwrap();
        let listed: Vec<_> = (0..documents).map(document).collect();
        let catalog = folder.path().join("catalog.json");
        std::fs::write(&catalog, json!({"documents": listed}).to_string()).unwrap();
        let updates = json!(updates).to_string();
        let words = ["--catalog-path", catalog.to_str().unwrap(), "--updates", &updates];
        Args::from_args(&["enrich"], &words).unwrap().run(&Invocation::default())
    }

    fn document(number: usize) -> Value {
        json!({"url": format!("https://x.example/{number}"), "path": format!("documents/{number}.md")})
    }

    fn update(url: &str) -> Value {
        json!({"url": url, "summary": "s"})
    }

    #[test]
    fn names_that_were_not_found_have_precedence_in_a_long_answer() {
        let updates: Vec<_> = (0..3_000).map(|number| update(&format!("https://x.example/{number}"))).collect();
        let answer = run(3_000, &[&updates[..], &["a", "b", "c"].map(update)].concat()).unwrap();
        assert_eq!(answer.unmatched, ["a", "b", "c"]);
        assert_eq!((answer.updated, answer.added, answer.truncated), (3_000, 0, true));
        assert!((10..3_000).contains(&answer.updated_paths.len()), "{}", answer.updated_paths.len());
    }

    #[test]
    fn an_answer_that_lists_everything_is_not_truncated() {
        let answer = run(1, &["https://x.example/0", "a"].map(update)).unwrap();
        assert_eq!((answer.updated_paths, answer.unmatched), (vec!["documents/0.md".into()], vec!["a".into()]));
        assert!(!answer.truncated);
    }

    #[test]
    fn an_error_lists_only_the_first_names() {
        let updates: Vec<_> = (0..=MAX_IN_ERROR).map(|number| update(&format!("none {number}"))).collect();
        let error = run(1, &updates).unwrap_err();
        let unmatched = error.details()["unmatched"].as_array().unwrap();
        assert!(error.is(NO_DOCUMENT_MATCHED) && unmatched[0] == "none 0", "{error}");
        assert_eq!(unmatched.len(), MAX_IN_ERROR);
    }
}
