//! `ragmaker-project-info`: returns the project root and the roots that may be read and written.

use std::{
    env,
    path::{Path, PathBuf},
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{FILE_NOT_FOUND, IGNORE_FILES, Root, Roots, lossy_text};
use ragmaker_project::{Candidate, MARKERS, RootSource, VARIABLES, variables};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Code, Error, Invocation, JsonSchema, OUTPUT_LIMIT, Tool, ToolProfile, host,
};
use serde::Serialize;

mod overview;

pub use overview::{FoundProgram, Language, Statistics};

/// Report the project root, what may be read and written and why, and the configuration. Call it when a path is
/// refused: `--resolve` explains one. Returns roots, limits and environment; with `--statistics` also files by language
/// and browsers.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// path to explain: where it leads, and whether it may be read or written; may be repeated
    #[argh(option)]
    pub resolve: Vec<String>,
    /// count the files of the project by language, and look for browsers
    #[argh(switch)]
    pub statistics: bool,
}

/// The project root, and the roots that may be read and written.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The directory that relative paths start at.
    pub project_root: String,
    /// The origin of the project root.
    pub project_root_source: RootSource,
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
    /// The explanation of each requested path.
    pub resolved: Vec<Resolved>,
    /// The statistics of the project's files, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<Statistics>,
    /// The browser and its driver, if statistics were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browsers: Option<Vec<FoundProgram>>,
    /// The environment variables of these tools that are set.
    pub configuration: Vec<Setting>,
    /// The limits of every answer.
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

/// The explanation of a path.
#[derive(Serialize, JsonSchema)]
pub struct Resolved {
    /// The path as it was given.
    pub path: String,
    /// The path with links resolved.
    pub resolved: Option<String>,
    /// Whether it exists; null if this may not be checked.
    pub exists: Option<bool>,
    /// Whether it may be read.
    pub readable: bool,
    /// Whether it may be written.
    pub writable: bool,
    /// The rule that decides about reading.
    pub read_rule: String,
    /// The rule that decides about writing.
    pub write_rule: String,
}

/// An environment variable that is set.
#[derive(Serialize, JsonSchema)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
}

/// The limits of every answer.
#[derive(Serialize, JsonSchema)]
pub struct Limits {
    /// The maximum number of characters that a tool prints by default.
    pub output_characters: usize,
    /// The ignore files that are followed in the project; a later one overrides an earlier one.
    pub ignore_files: [&'static str; 4],
    /// The files and folders that mark a directory as a project.
    pub markers: [&'static str; 9],
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const HOST_OPTIONS: &'static [&'static str] = host::FILES;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Ask, ToolProfile::Files];
    const ALIASES: &'static [&'static str] = &["fs-get-project-info", "path-normalizer"];
    const ERRORS: &'static [&'static [Code]] = &[ragmaker_project::ERRORS];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        if self.resolve.len() > MAX_RESOLVED {
            return Err(ARGUMENT_ERROR
                .error(format!(
                    "--resolve was given {} times; at most {MAX_RESOLVED} paths are explained",
                    self.resolve.len()
                ))
                .remedy("Ask for fewer paths at a time.")
                .detail("argument", "--resolve"));
        }
        let roots = Roots::discover_all(&invocation.host)?;
        let text = |path: PathBuf| lossy_text(path).0;
        let of_kind = |kind| roots.all().iter().filter(|root| root.kind == kind).cloned().collect();
        let project = roots.project();
        let relative = project.cwd().and_then(|cwd| cwd.strip_prefix(project.root()).ok());
        let relative = relative.map(|path| if path == Path::new("") { Path::new(".") } else { path });
        let root = if self.statistics { roots.place(".").ok() } else { None };
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
        Ok(Answer {
            project_root: text(project.root().to_path_buf()),
            project_root_source: project.source(),
            env_ragmaker_project_root: env::var_os(variables::PROJECT_ROOT).map(|value| text(value.into())),
            cwd: project.cwd().map_or_else(|| "(unavailable)".to_owned(), |cwd| text(cwd.to_path_buf())),
            relative_cwd: relative.map(|path| text(path.to_path_buf())),
            candidates: project.candidates().to_vec(),
            allowed_roots: of_kind(ragmaker_files::RootKind::AllowedRoot),
            kb_roots: of_kind(ragmaker_files::RootKind::KbRoot),
            resolved: self.resolve.iter().map(|path| resolve(&roots, path)).collect(),
            statistics: root.as_ref().map(Statistics::of),
            browsers: self.statistics.then(overview::browsers),
            configuration: configuration(),
            limits: Limits { output_characters: OUTPUT_LIMIT, ignore_files: IGNORE_FILES, markers: MARKERS },
            locale,
            encoding: "UTF-8",
            os: format!("{} {}", env::consts::OS, env::consts::ARCH),
            version: Self::VERSION,
        })
    }
}

/// The variables of the table that are set. None of them contains a secret: what does is in a file that only
/// its owner can read.
fn configuration() -> Vec<Setting> {
    let set = |variable: &ragmaker_project::Variable| {
        let value = env::var_os(variable.name).filter(|value| !value.is_empty())?;
        Some(Setting { name: variable.name, value: lossy_text(value.into()).0 })
    };
    VARIABLES.iter().filter_map(set).collect()
}

/// The maximum number of paths that one answer explains, which keeps it within its limit.
const MAX_RESOLVED: usize = 20;

fn resolve(roots: &Roots, path: &str) -> Resolved {
    let read = roots.place(path);
    let write = roots.place_to_write(path);
    let place = read.as_ref().or(write.as_ref()).ok().map(ragmaker_files::ResolvedPath::path);
    let ignored = read.as_ref().ok().and_then(|place| place.check_ignored().err());
    let rule = |root: &Root| format!("beneath the {} {}", root.kind.name(), root.path.display());
    let read_rule = match (&read, &ignored) {
        (Ok(place), None) => rule(&place.root),
        (Ok(_), Some(error)) | (Err(error), _) => error.to_string(),
    };
    let details =
        read.as_ref().err().and_then(|error| error.details().get("resolved")).and_then(|value| value.as_str());
    let exists = match &read {
        Ok(_) => Some(true),
        // Beneath a root, so this may be said; of a link, what it leads to counts.
        Err(error) if error.is(FILE_NOT_FOUND) => Some(false),
        Err(_) => None,
    };
    Resolved {
        path: path.to_owned(),
        exists,
        resolved: place.map(|path| lossy_text(path).0).or(details.map(str::to_owned)),
        readable: read.is_ok() && ignored.is_none(),
        writable: write.is_ok(),
        read_rule,
        write_rule: write.map_or_else(|error| error.to_string(), |place| rule(&place.root)),
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::HostOptions;

    use super::*;

    /// Whether the path may be read and written, whether it exists, and the rules.
    fn explained(root: &Path, path: &str) -> (bool, bool, Option<bool>, String) {
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        let resolved = resolve(&Roots::discover(&host).unwrap(), path);
        (
            resolved.readable,
            resolved.writable,
            resolved.exists,
            format!("{}; {}", resolved.read_rule, resolved.write_rule),
        )
    }

    #[test]
    fn what_may_be_done_with_a_path_is_explained() {
        let (_holder, root) = folder("project");
        write(&root, "a.md", "");
        write(&root, "ignored.md", "");
        write(&root, ".ragmakerignore", "ignored.md\n");
        write(root.parent().unwrap(), "outside.md", "");
        let (readable, writable, exists, rules) = explained(&root, "a.md");
        assert_eq!((readable, writable, exists), (true, true, Some(true)));
        assert!(rules.contains(root.to_str().unwrap()), "{rules}");
        let (readable, writable, exists, _) = explained(&root, "none.md");
        assert_eq!((readable, writable, exists), (false, true, Some(false)));
        let (readable, _, exists, rules) = explained(&root, "ignored.md");
        assert!(!readable && exists == Some(true) && rules.contains(".ragmakerignore"), "{rules}");
        // Whether a file outside exists is not said.
        for outside in ["../outside.md", "../none.md", "/etc/passwd"] {
            let (readable, writable, exists, rules) = explained(&root, outside);
            assert_eq!((readable, writable, exists), (false, false, None), "{outside}: {rules}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_explained_by_what_it_leads_to() {
        let (_holder, root) = folder("project");
        write(root.parent().unwrap(), "outside.md", "");
        std::os::unix::fs::symlink("../outside.md", root.join("out")).unwrap();
        std::os::unix::fs::symlink("none", root.join("dead")).unwrap();
        assert_eq!(explained(&root, "out").2, None);
        let (readable, _, exists, rules) = explained(&root, "dead");
        assert!(!readable && exists == Some(false), "{rules}");
    }
}
