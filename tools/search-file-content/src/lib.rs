//! `ragmaker-search-file-content`: finds matching lines in files of any encoding.

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{Roots, Walk, io_error, lossy_text, walk};
use ragmaker_text::NOT_TEXT;
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Bounded, Budget, Code, ContentOrigin, Error, Invocation, Isolation, JsonSchema, Limit,
    Next, OUTPUT_LIMIT, Offset, Tool, ToolProfile, counted, host,
};
use serde::Serialize;

mod search;

pub use search::Match;

/// Nothing matches.
pub const NO_MATCHES: Code = Code::new(
    "NO_MATCHES",
    "Try --ignore-case, --fixed, another expression or another --path; --no-ignore looks into ignored files.",
);

/// The remedy if no file could be searched.
const UNREADABLE: &str = "The file was not searched. Name another --path; ragmaker-read-file says more about this one.";

/// Search the text of files for a regular expression, in any encoding, PDFs and office documents too. To find files by
/// name use `ragmaker-find-files`. Returns matching lines with path, line and column, paged by next;
/// `ragmaker-read-file` shows more around a line.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Args {
    /// regular expression in the syntax of ripgrep
    #[argh(option)]
    pub pattern: String,
    /// file or directory to search; a relative path starts at the project root
    #[argh(option, default = "String::from(\".\")")]
    pub path: String,
    /// glob of files to search, such as *.md; may be repeated
    #[argh(option)]
    pub include: Vec<String>,
    /// treat the pattern as literal text
    #[argh(switch)]
    pub fixed: bool,
    /// match upper and lower case
    #[argh(switch)]
    pub ignore_case: bool,
    /// number of lines to return before and after each match
    #[argh(option, default = "0")]
    pub context: usize,
    /// number of matches to skip (from `next`)
    #[argh(option, default = "Offset::new(0)")]
    pub offset: Offset,
    /// maximum number of matches (default: as many as fit)
    #[argh(option)]
    pub limit: Option<Limit>,
    /// include files that an ignore file lists
    #[argh(switch)]
    pub no_ignore: bool,
    /// include files whose names begin with a dot
    #[argh(switch)]
    pub hidden: bool,
}

/// The lines that match.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path that was searched.
    pub path: String,
    /// The matches, in the order of their paths.
    pub matches: Vec<Match>,
    /// The number of matching lines.
    pub total: usize,
    /// Whether matches remain after the returned ones.
    pub truncated: bool,
    /// The arguments for the next page; null on the last page.
    pub next: Option<Next>,
    /// The number of searched files.
    pub files_searched: usize,
    /// The files that could not be searched, with the reasons; binary files are not listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const HOST_OPTIONS: &'static [&'static str] = host::FILES;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Files;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Ask, ToolProfile::Files];
    const OPERANDS: &'static [&'static str] = &["--pattern", "--path"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[NO_MATCHES, NOT_TEXT, ragmaker_tool::OFFSET_BEYOND_END, ragmaker_files::PATH_IGNORED],
        ragmaker_files::PATH_ERRORS,
        ragmaker_files::FILE_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let place = Roots::discover(&invocation.host)?.place(&self.path)?;
        let base = place.path();
        let matcher = grep_regex::RegexMatcherBuilder::new()
            .case_insensitive(self.ignore_case)
            .fixed_strings(self.fixed)
            .line_terminator(Some(b'\n'))
            .build(&self.pattern)
            .map_err(|error| {
                let remedy = match error.kind() {
                    grep_regex::ErrorKind::NotAllowed(_) => "A match is within one line: search for a part of it.",
                    _ => "Escape special characters, or use --fixed.",
                };
                ARGUMENT_ERROR
                    .error(format!("--pattern cannot be {:?}: {error}", self.pattern))
                    .remedy(remedy)
                    .detail("argument", "--pattern")
            })?;
        // Enough for any answer; further matches are only counted.
        let keep =
            self.offset.index().saturating_add(self.limit.map_or(OUTPUT_LIMIT / search::SHORTEST, Bounded::index));
        let search = search::Search { matcher, context: self.context, keep };
        let found = if base.is_dir() {
            let options =
                Walk { include: &self.include, no_ignore: self.no_ignore, hidden: self.hidden, ..Walk::default() };
            search.tree(&mut walk(&place, options)?, &place.opener()?)
        } else {
            if !self.no_ignore {
                place.check_ignored()?;
            }
            let file = place.open()?;
            let size = file.metadata().map_err(|error| io_error(&error, &base))?.len();
            let found = search.file(&place, file, size);
            // Of a tree, files that are not text are left out; the one that the caller names is not.
            if found.files == 0 && found.unreadable.is_empty() {
                return Err(NOT_TEXT
                    .error(format!("{} is not text", base.display()))
                    .detail("path", lossy_text(base).0));
            }
            found
        };
        let mut unreadable = found.unreadable;
        unreadable.truncate(20);
        if found.total == 0 {
            let (pattern, base) = (&self.pattern, lossy_text(base).0);
            let error = match unreadable.as_slice() {
                [reason] if found.files == 0 => NO_MATCHES.error(reason.clone()).remedy(UNREADABLE),
                _ => NO_MATCHES
                    .error(format!("{pattern:?} matches no line of {} in {base}", counted(found.files, "file"))),
            };
            return Err(error
                .detail("path", base)
                .detail("files_searched", found.files)
                .detail("unreadable", unreadable));
        }
        let answer = Answer {
            path: lossy_text(base).0,
            matches: vec![],
            total: found.total,
            truncated: false,
            next: Some(Next::WIDEST),
            files_searched: found.files,
            unreadable,
        };
        let page = Budget::for_frame(&answer).page_of(found.matches, found.total, self.offset, self.limit, Some)?;
        Ok(Answer { matches: page.items, truncated: page.next.is_some(), next: page.next, ..answer })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ragmaker_files::PATH_IGNORED;
    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::{HostOptions, OFFSET_BEYOND_END};

    use super::*;

    /// The answer in the project `root`, or the error.
    fn run(root: &Path, words: &[&str]) -> Result<Answer, Error> {
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        Args::from_args(&["search"], words).unwrap().run(&Invocation { host, ..Invocation::default() })
    }

    #[test]
    fn a_page_has_the_total_of_all_matches() {
        let (_holder, root) = folder("project");
        write(&root, "a", "x 1\nx 2\n");
        write(&root, "b", "x 3\n");
        let words = ["--pattern", "x", "--limit", "1", "--offset"];
        let [middle, last] = ["1", "2"].map(|offset| run(&root, &[&words[..], &[offset]].concat()).unwrap());
        assert_eq!((middle.matches[0].line, middle.total, middle.files_searched), (2, 3, 2));
        assert_eq!((middle.next, middle.truncated), (Some(Next { offset: 2 }), true));
        assert!(last.matches[0].path.ends_with('b') && last.matches.len() == 1);
        assert_eq!((last.next, last.truncated), (None, false));
        let beyond = run(&root, &[&words[..], &["3"]].concat()).err().unwrap();
        assert!(beyond.is(OFFSET_BEYOND_END) && beyond.details()["total"] == 3, "{beyond}");
    }

    #[test]
    fn an_error_says_how_much_was_searched() {
        let (_holder, root) = folder("project");
        write(&root, "sub/a", "text");
        write(&root, "b", "");
        for (path, searched) in [("sub", "1 file"), (".", "2 files"), ("b", "1 file")] {
            let error = run(&root, &["--pattern", "x{2}", "--path", path]).err().unwrap();
            let message = format!("\"x{{2}}\" matches no line of {searched} in ");
            assert!(error.is(NO_MATCHES) && error.message().starts_with(&message), "{error}");
        }
    }

    #[test]
    fn a_pattern_is_refused_with_a_way_out() {
        let (_holder, root) = folder("project");
        // A match is within a line, so --fixed does not help.
        for (words, remedy) in [
            (&["a\nb"][..], "one line"),
            (&["a\nb", "--fixed"], "one line"),
            (&[r"a\nb"], "one line"),
            (&["a("], "--fixed"),
        ] {
            let error = run(&root, &[&["--pattern"], words].concat()).err().unwrap();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--pattern", "{error}");
            assert!(error.remediation().contains(remedy), "{words:?}: {}", error.remediation());
        }
    }

    #[test]
    fn a_named_file_is_searched_if_it_is_text_and_not_ignored() {
        let (_holder, root) = folder("project");
        write(&root, ".gitignore", "*.log\n");
        write(&root, "a.log", "needle");
        write(&root, "program", [&b"\x7fELF"[..], &[0; 60]].concat());
        let words = ["--pattern", "needle", "--path", "a.log"];
        assert!(run(&root, &words).err().unwrap().is(PATH_IGNORED));
        assert_eq!(run(&root, &[&words[..], &["--no-ignore"]].concat()).unwrap().total, 1);
        assert!(run(&root, &["--pattern", "ELF", "--path", "program"]).err().unwrap().is(NOT_TEXT));
    }

    #[test]
    fn hidden_files_are_searched_on_request() {
        let (_holder, root) = folder("project");
        write(&root, ".hidden/a", "needle");
        assert_eq!(run(&root, &["--pattern", "needle"]).err().unwrap().details()["files_searched"], 0);
        assert_eq!(run(&root, &["--pattern", "needle", "--hidden"]).unwrap().total, 1);
    }
}
