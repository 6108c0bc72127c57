//! The slow part of the answer: statistics of the project's files, and the installed browsers.

use std::{cmp::Reverse, path::PathBuf, thread, time::Duration};

use ragmaker_files::{ResolvedPath, file_statistics, lossy_text};
use ragmaker_project::programs::Program;
use ragmaker_tool::JsonSchema;
use serde::Serialize;

/// The time limit for counting files: 45,000 files took 0.7 seconds without optimization.
const COUNTING: Duration = Duration::from_secs(2);
/// The number of listed languages, those with the most bytes.
const LANGUAGES: usize = 20;

/// The statistics of the project's files. Names that begin with a dot are not counted.
#[derive(Serialize, JsonSchema)]
pub struct Statistics {
    /// The number of files that are not ignored.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The files by language, the largest share first; at most 20.
    pub languages: Vec<Language>,
    /// The number of ignored files and directories; a directory counts once.
    pub ignored: u64,
    /// Whether the time was over before every file was counted.
    pub truncated: bool,
}

/// The files of a language.
#[derive(Serialize, JsonSchema)]
pub struct Language {
    /// Its name.
    pub name: &'static str,
    /// The number of files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Statistics {
    /// The statistics of the project at `root`.
    pub(crate) fn of(root: &ResolvedPath) -> Self {
        let tally = file_statistics(root, COUNTING, ragmaker_media::language);
        let mut languages: Vec<_> = tally
            .groups
            .into_iter()
            .map(|(name, count)| Language { name, files: count.files, bytes: count.bytes })
            .collect();
        languages.sort_by_key(|language| Reverse(language.bytes));
        languages.truncate(LANGUAGES);
        Self {
            files: tally.files.files,
            bytes: tally.files.bytes,
            languages,
            ignored: tally.ignored,
            truncated: tally.is_cut,
        }
    }
}

/// A browser or a driver that the browser tools use.
#[derive(Serialize, JsonSchema)]
pub struct FoundProgram {
    /// Chromium or `ChromeDriver`.
    pub name: &'static str,
    /// Its executable; null if it is not found.
    pub path: Option<String>,
    /// Its version; null if it prints none.
    pub version: Option<String>,
    /// The reason why it is not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The browser and its driver.
pub(crate) fn browsers() -> Vec<FoundProgram> {
    let of = |program: Program| match program.find() {
        Ok(path) => {
            let version = program.version(&path);
            FoundProgram { name: program.name(), path: Some(text(path)), version, problem: None }
        }
        Err(error) => {
            FoundProgram { name: program.name(), path: None, version: None, problem: Some(error.message().to_owned()) }
        }
    };
    // Each takes a tenth of a second to start.
    thread::scope(|scope| {
        let running = [Program::Chromium, Program::ChromeDriver].map(|program| scope.spawn(move || of(program)));
        running.into_iter().filter_map(|running| running.join().ok()).collect()
    })
}

fn text(path: PathBuf) -> String {
    lossy_text(path).0
}

#[cfg(test)]
mod tests {
    use ragmaker_files::Roots;
    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::HostOptions;

    use super::*;

    #[test]
    fn languages_are_sorted_by_their_bytes() {
        let (_holder, root) = folder("project");
        write(&root, "a.md", "12");
        for name in ["a.rs", "deep/b.rs"] {
            write(&root, name, "12345");
        }
        write(&root, "a.py", "123456");
        write(&root, "b.zig", "12");
        write(&root, "picture.png", "no language");
        write(&root, "target/c.rs", "ignored");
        write(&root, ".ragmakerignore", "target/\n");
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        let found = Statistics::of(&Roots::discover(&host).unwrap().place(".").unwrap());
        let languages: Vec<_> = found.languages.iter().map(|one| (one.name, one.files, one.bytes)).collect();
        // Of equal ones, the first by name is first.
        assert_eq!(languages, [("Rust", 2, 10), ("Python", 1, 6), ("Markdown", 1, 2), ("Zig", 1, 2)]);
        assert_eq!((found.files, found.bytes, found.ignored, found.truncated), (6, 31, 1, false));
    }
}
