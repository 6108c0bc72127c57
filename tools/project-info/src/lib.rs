//! `ragmaker-project-info`: where the project is, and what may be read and written.

use std::{env, path::PathBuf};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{Asked, Candidate, IGNORE_FILES, MARKERS, Root, Roots, Source, shown};
use ragmaker_tool::{Annotations, Code, Error, JsonSchema, OUTPUT_LIMIT, Tool};
use serde::Serialize;

/// Say where the project is, and what may be read and written; --resolve explains a path.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// path to explain: where it leads, and whether it may be read or written; may be repeated
    #[argh(option)]
    pub resolve: Vec<String>,
    /// directory that relative paths start at (default: the nearest project, else the working directory)
    #[argh(option)]
    pub project_root: Option<String>,
    /// another directory that may be read; may be repeated
    #[argh(option)]
    pub allow_root: Vec<String>,
    /// knowledge base that may be read: it has a catalog.json or cache/catalog.json; may be repeated
    #[argh(option)]
    pub kb_root: Vec<String>,
}

/// Where the project is, and what may be read and written.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The directory that relative paths start at.
    pub project_root: String,
    /// Who named it.
    pub project_root_source: Source,
    /// The environment variable `RAGMAKER_PROJECT_ROOT`.
    pub env_ragmaker_project_root: Option<String>,
    /// The working directory.
    pub cwd: String,
    /// The working directory as seen from the project root; null outside it.
    pub relative_cwd: Option<String>,
    /// Every directory that was considered as the project root, and why it is or is not.
    pub candidates: Vec<Candidate>,
    /// The other directories that were allowed.
    pub allowed_roots: Vec<Root>,
    /// The knowledge bases that were named; others are found by their catalog.json.
    pub kb_roots: Vec<Root>,
    /// What a path that was asked about leads to.
    pub resolved: Vec<Resolved>,
    /// What holds for every answer.
    pub limits: Limits,
    /// The locale that the environment sets.
    pub locale: Option<String>,
    /// The encoding of names and arguments.
    pub encoding: &'static str,
    /// The operating system and the processor.
    pub os: String,
    /// The version of this tool.
    pub version: &'static str,
}

/// What a path leads to.
#[derive(Serialize, JsonSchema)]
pub struct Resolved {
    /// The path as it was given.
    pub path: String,
    /// Where it leads, links followed.
    pub resolved: Option<String>,
    /// Whether something is there.
    pub exists: bool,
    /// Whether it may be read.
    pub readable: bool,
    /// Whether it may be written.
    pub writable: bool,
    /// The rule that decides about reading.
    pub read_rule: String,
    /// The rule that decides about writing.
    pub write_rule: String,
}

/// What holds for every answer.
#[derive(Serialize, JsonSchema)]
pub struct Limits {
    /// The most characters that a tool prints by default.
    pub output_characters: usize,
    /// The ignore files that are followed in the project, the one with the last word last.
    pub ignore_files: [&'static str; 4],
    /// What marks a directory as a project.
    pub markers: [&'static str; 9],
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    const ERRORS: &'static [Code] = &[ragmaker_files::ROOT_NOT_USABLE, ragmaker_files::ROOT_TOO_BROAD];

    fn run(self) -> Result<Answer, Error> {
        let asked =
            Asked { project_root: self.project_root.as_deref(), allow_root: &self.allow_root, kb_root: &self.kb_root };
        let roots = Roots::survey(asked)?;
        let text = |path: PathBuf| shown(path).0;
        let of_kind = |kind| roots.all().iter().filter(|root| root.kind == kind).cloned().collect();
        let project = roots.project();
        let relative = roots.cwd().strip_prefix(&project.path).ok().map(|path| text(path.to_path_buf()));
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
        Ok(Answer {
            project_root: text(project.path.clone()),
            project_root_source: project.source,
            env_ragmaker_project_root: env::var_os("RAGMAKER_PROJECT_ROOT").map(|value| text(value.into())),
            cwd: text(roots.cwd().to_path_buf()),
            relative_cwd: relative,
            candidates: roots.candidates().to_vec(),
            allowed_roots: of_kind(ragmaker_files::Kind::AllowedRoot),
            kb_roots: of_kind(ragmaker_files::Kind::KbRoot),
            resolved: self.resolve.iter().map(|path| resolve(&roots, path)).collect(),
            limits: Limits { output_characters: OUTPUT_LIMIT, ignore_files: IGNORE_FILES, markers: MARKERS },
            locale,
            encoding: "UTF-8",
            os: format!("{} {}", env::consts::OS, env::consts::ARCH),
            version: Self::VERSION,
        })
    }
}

fn resolve(roots: &Roots, path: &str) -> Resolved {
    let read = roots.place(path);
    let write = roots.place_to_write(path);
    let place = read.as_ref().or(write.as_ref()).ok().map(ragmaker_files::Place::path);
    let ignored = read.as_ref().ok().and_then(|place| place.check_ignored().err());
    let rule = |root: &Root| format!("beneath the {} {}", root.kind.name(), root.path.display());
    let read_rule = match (&read, &ignored) {
        (Ok(place), None) => rule(&place.root),
        (Ok(_), Some(error)) | (Err(error), _) => error.to_string(),
    };
    let details =
        read.as_ref().err().and_then(|error| error.details().get("resolved")).and_then(|value| value.as_str());
    Resolved {
        path: path.to_owned(),
        exists: read.is_ok() || place.as_ref().is_some_and(|path| path.symlink_metadata().is_ok()),
        resolved: place.map(|path| shown(path).0).or(details.map(str::to_owned)),
        readable: read.is_ok() && ignored.is_none(),
        writable: write.is_ok(),
        read_rule,
        write_rule: write.map_or_else(|error| error.to_string(), |place| rule(&place.root)),
    }
}
