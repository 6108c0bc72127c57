//! `ragmaker-write-file`: writes a text file atomically.

use std::io::{self, Read};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{ALREADY_EXISTS, Roots, io_error, lossy_text, named_directory};
use ragmaker_text::{FILE_TOO_LARGE, Prior, Rewrite, UNENCODABLE};
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Code, Error, Invocation, JsonSchema, Stdin, Tool, ToolProfile, host};
use serde::Serialize;

/// The largest file that is changed, and the most content that is taken (256 MiB).
const MAX: u64 = 256 << 20;

/// Write a whole text file in one step. An existing file keeps its encoding, newlines and permissions; missing
/// directories are made. To change a part use `ragmaker-modify-file-content`. Returns the path and what was written.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// file to write; a relative path starts at the project root; missing directories are created
    #[argh(option)]
    pub path: String,
    /// the text; without it, standard input
    #[argh(option)]
    pub content: Option<String>,
    /// fail if the file exists
    #[argh(switch)]
    pub create_only: bool,
    /// add the text to the end of the file
    #[argh(switch)]
    pub append: bool,
}

/// The written file.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path that was used.
    pub path: String,
    /// The size of the file now.
    pub bytes: usize,
    /// Whether the file is new.
    pub created: bool,
    /// The encoding that it is in.
    pub encoding: &'static str,
    /// The line endings of the file.
    pub newline: &'static str,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE.repeating();
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const STDIN: Option<Stdin> = Some(Stdin { argument: "content", dash: false });
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Files];
    const OPERANDS: &'static [&'static str] = &["--path"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[ALREADY_EXISTS, UNENCODABLE, FILE_TOO_LARGE, ragmaker_files::FILE_LOCKED, ragmaker_files::PATH_NOT_WRITABLE],
        ragmaker_files::PATH_ERRORS,
        ragmaker_files::FILE_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        if self.append && self.create_only {
            return Err(ARGUMENT_ERROR
                .error("--append and --create-only cannot be combined")
                .remedy("Omit --append: a new file does not need it.")
                .detail("argument", "--append"));
        }
        if let Some(error) = named_directory("--path", &self.path) {
            return Err(error.remedy("Add the name of the file to --path, or use ragmaker-create-directory."));
        }
        let roots = Roots::discover(&invocation.host)?;
        let place = roots.place_to_write(&self.path)?;
        let content = match self.content {
            Some(content) => content,
            None => standard_input()?,
        };
        let _lock = place.lock()?;
        let old = match place.open() {
            Ok(file) => {
                let mut bytes = vec![];
                let read = file.take(MAX + 1).read_to_end(&mut bytes);
                read.map_err(|error| io_error(&error, &place.path()))?;
                if bytes.len() as u64 > MAX {
                    return Err(FILE_TOO_LARGE.error(format!("{} has more than {MAX} bytes", place.path().display())));
                }
                Some(bytes)
            }
            Err(error) if error.is(ragmaker_files::FILE_NOT_FOUND) => None,
            Err(error) => return Err(error),
        };
        let prior = || Prior::of_process().with_texts(&place.similar_files());
        let rewrite = Rewrite::of(old.unwrap_or_default(), &prior);
        let bytes = if self.append { rewrite.append(&content) } else { rewrite.write(&content) }?;
        let written = place.write(&bytes, self.create_only).map_err(|error| {
            error.remedy_for(ALREADY_EXISTS, "Choose another --path, or omit --create-only to replace the file.")
        })?;
        Ok(Answer {
            path: lossy_text(place.path()).0,
            bytes: bytes.len(),
            created: written.created,
            encoding: rewrite.encoding(),
            newline: rewrite.newline_of(&bytes).name(),
        })
    }
}

fn standard_input() -> Result<String, Error> {
    let mut content = String::new();
    let read = io::stdin().lock().take(MAX + 1).read_to_string(&mut content);
    read.map_err(|error| {
        ARGUMENT_ERROR.error(format!("standard input cannot be used: {error}")).remedy("Give the text as UTF-8.")
    })?;
    if content.len() as u64 > MAX {
        return Err(FILE_TOO_LARGE.error(format!("standard input has more than {MAX} bytes")));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use ragmaker_files::IS_A_DIRECTORY;
    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::HostOptions;

    use super::*;

    /// The answer in the project `root`, or the error.
    fn run(root: &Path, words: &[&str]) -> Result<Answer, Error> {
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        Args::from_args(&["write"], words).unwrap().run(&Invocation { host, ..Invocation::default() })
    }

    #[test]
    fn an_answer_describes_the_whole_file() {
        for (old, words, new, newline) in [
            // What is added has the newlines of the file.
            (Some("a\r\nb\r\n"), &["--content", "c\nd\n", "--append"][..], "a\r\nb\r\nc\r\nd\r\n", "crlf"),
            (Some("a\r\n"), &["--content", "one line"], "one line\r\n", "crlf"),
            (Some("no end"), &["--content", "more\r\n", "--append"], "no endmore\r\n", "crlf"),
            (Some(""), &["--content", "潮\n", "--append"], "潮\n", "lf"),
            (Some("a\n"), &["--content", ""], "", "none"),
            (None, &["--content", "a\r\nb\n", "--append"], "a\r\nb\n", "mixed"),
            (None, &["--content", "a", "--create-only"], "a", "none"),
        ] {
            let (_holder, root) = folder("project");
            if let Some(old) = old {
                write(&root, "f", old);
            }
            let answer = run(&root, &[&["--path", "f"], words].concat()).unwrap();
            assert_eq!(fs::read_to_string(root.join("f")).unwrap(), new, "{old:?} {words:?}");
            assert_eq!((answer.bytes, answer.newline), (new.len(), newline), "{old:?} {words:?}");
            assert_eq!(answer.created, old.is_none(), "{old:?} {words:?}");
        }
    }

    #[test]
    fn a_path_that_ends_with_a_separator_names_no_file() {
        let (_holder, root) = folder("project");
        for path in ["notes/", "new/notes/"] {
            let error = run(&root, &["--path", path, "--content", "a"]).err().unwrap();
            assert!(error.is(IS_A_DIRECTORY), "{error}");
        }
        assert!(!root.join("notes").exists() && !root.join("new").exists());
    }

    #[test]
    fn a_new_file_is_not_appended_to() {
        let (_holder, root) = folder("project");
        let error = run(&root, &["--path", "f", "--content", "a", "--append", "--create-only"]).err().unwrap();
        assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--append", "{error}");
        assert!(!root.join("f").exists());
    }
}
