//! `ragmaker-install-knowledge-base`: copies finished knowledge bases to another folder.
//!
//! The new knowledge base is built completely beside its target, with the documents that are in the target already, and
//! then exchanged with the target in one step ([`target`]). So readers find either the old or the new knowledge base,
//! also after a killed call.

mod copy;
mod source;
mod target;

use std::path::{Path, PathBuf};

use argh::{ArgsInfo, FromArgs};
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Budget, Code, Error, Invocation, Isolation, JsonSchema, Tool, host};
use serde::Serialize;

use crate::{source::SourceKnowledgeBase, target::Target};

/// The target contains something already.
pub const TARGET_NOT_EMPTY: Code = Code::new(
    "TARGET_NOT_EMPTY",
    "Choose another --target-kb-root, or add to it with --force: documents with the same address are replaced, all others are kept.",
);

/// Copy finished knowledge bases into a folder, each under its own name, or with `--merge` all into one. Paths in the
/// catalogs are rewritten, and a target is replaced atomically. To move files use `ragmaker-move`. Returns what was
/// installed and what was left out.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// folder of a knowledge base to copy; may be repeated
    #[argh(option)]
    pub source: Vec<PathBuf>,
    /// target folder, with a subfolder for each; with --merge the knowledge base itself
    #[argh(option)]
    pub target_kb_root: PathBuf,
    /// merge all sources into one knowledge base
    #[argh(switch)]
    pub merge: bool,
    /// add to an existing knowledge base; documents with the same address are replaced
    #[argh(switch)]
    pub force: bool,
}

/// The installed knowledge bases.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The knowledge bases that were made or added to.
    pub installed: Vec<Installed>,
    /// Documents that were not copied, with the reason.
    pub left_out: Vec<SkippedDocument>,
    /// The number of documents that were not copied.
    pub total: usize,
    /// Whether some of them are not listed here.
    pub truncated: bool,
}

/// A knowledge base that was made or added to.
#[derive(Serialize, JsonSchema, Debug, Clone)]
pub struct Installed {
    /// The absolute path of its folder.
    pub kb_root: String,
    /// The absolute path of its catalog.
    pub catalog_file: String,
    /// The number of its documents.
    pub documents: usize,
    /// The number of new documents.
    pub added: usize,
    /// The number of documents that replaced one with the same address.
    pub replaced: usize,
}

/// A document that was not copied.
#[derive(Serialize, JsonSchema, Debug)]
pub struct SkippedDocument {
    /// The folder of the source.
    pub source: String,
    /// The path, as the catalog has it.
    pub path: String,
    /// The reason.
    pub reason: &'static str,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ALIASES: &'static [&'static str] = &["install-kb"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[TARGET_NOT_EMPTY, ragmaker_files::NOT_A_DIRECTORY, ragmaker_files::NOT_A_REGULAR_FILE],
        &[ragmaker_files::IS_A_DIRECTORY, ragmaker_files::FILE_LOCKED, ragmaker_files::PATH_NOT_WRITABLE],
        ragmaker_catalog::READ_ERRORS,
        &[ragmaker_catalog::CATALOG_LOCKED, ragmaker_catalog::CATALOG_NOT_WRITABLE],
        ragmaker_files::PATH_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        if self.source.is_empty() {
            return Err(ARGUMENT_ERROR
                .error("--source is required")
                .remedy("Add --source and the folder of a knowledge base.")
                .detail("argument", "--source"));
        }
        let sources = self
            .source
            .iter()
            .map(|path| SourceKnowledgeBase::open(path, invocation))
            .collect::<Result<Vec<_>, _>>()?;
        let groups = self.groups(sources)?;
        // Everything that can be said before is said before anything is made.
        let targets = groups
            .into_iter()
            .map(|(path, sources)| Target::open(&path, sources, self.force, invocation))
            .collect::<Result<Vec<_>, _>>()?;
        let (mut installed, mut left_out) = (vec![], vec![]);
        for target in targets {
            let before: Vec<_> = installed.iter().map(|done: &Installed| done.kb_root.clone()).collect();
            let done = target.install(invocation, &mut left_out);
            installed.push(done.map_err(|error| error.detail("installed", before))?);
        }
        let total = left_out.len();
        let mut answer = Answer { installed, left_out: vec![], total, truncated: false };
        let mut budget = Budget::for_frame(&answer);
        answer.left_out = budget.take_list(left_out);
        answer.truncated = answer.left_out.len() < total;
        Ok(answer)
    }
}

impl Args {
    /// The targets, and what goes into each.
    fn groups(&self, sources: Vec<SourceKnowledgeBase>) -> Result<Vec<(PathBuf, Vec<SourceKnowledgeBase>)>, Error> {
        if self.merge {
            return Ok(vec![(self.target_kb_root.clone(), sources)]);
        }
        let mut groups: Vec<(PathBuf, Vec<SourceKnowledgeBase>)> = vec![];
        for source in sources {
            let path = self.target_kb_root.join(source.name()?);
            if let Some((_, others)) = groups.iter().find(|(other, _)| *other == path) {
                return Err(ARGUMENT_ERROR
                    .error(format!("{} and {} have one name", others[0].root.display(), source.root.display()))
                    .remedy("Install them in two calls with a --target-kb-root each, or make one of them with --merge.")
                    .detail("argument", "--source"));
            }
            groups.push((path, vec![source]));
        }
        Ok(groups)
    }
}

/// The error for what the system said about `path`.
fn failed(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |error| ragmaker_files::io_error(&error, path)
}

#[cfg(test)]
mod tests {
    use ragmaker_testkit::{folder, write};

    use super::*;

    /// The targets for these knowledge bases of a new project, relative to it, with the number of sources of each.
    fn groups(roots: &[&str], flags: &[&str]) -> Result<Vec<(String, usize)>, Error> {
        let (_holder, project) = folder("project");
        let sources = roots.iter().map(|root| {
            let named = root.trim_end_matches("/cache");
            write(&project, &format!("{named}/cache/catalog.json"), r#"{"documents": []}"#);
            SourceKnowledgeBase::open(&project.join(root), &Invocation::default()).unwrap()
        });
        let words = [&["--target-kb-root", "all"], flags].concat();
        let groups = Args::from_args(&["install"], &words).unwrap().groups(sources.collect())?;
        Ok(groups.into_iter().map(|(path, sources)| (path.display().to_string(), sources.len())).collect())
    }

    #[test]
    fn each_source_has_a_target_of_its_name_or_all_have_one() {
        let sources = ["there/sea", "land/cache"];
        assert_eq!(groups(&sources, &[]).unwrap(), [("all/sea".into(), 1), ("all/land".into(), 1)]);
        assert_eq!(groups(&sources, &["--merge"]).unwrap(), [("all".into(), 2)]);
    }

    #[test]
    fn two_sources_of_one_name_need_a_decision() {
        let sources = ["a/sea", "b/land", "b/sea"];
        let error = groups(&sources, &[]).unwrap_err();
        assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--source", "{error}");
        assert!(error.message().contains("/a/sea and ") && error.message().contains("/b/sea have one name"), "{error}");
        assert_eq!(groups(&sources, &["--merge"]).unwrap(), [("all".into(), 3)]);
    }

    #[test]
    fn a_call_needs_a_source() {
        let error = Args::from_args(&["install"], &["--target-kb-root", "all"]).unwrap();
        let error = error.run(&Invocation::default()).err().unwrap();
        assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--source", "{error}");
    }
}
