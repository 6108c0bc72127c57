//! `ragmaker-modify-file-content`: replaces an exact text in a file.

use std::{io::Read, ops::Range};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{Roots, io_error, lossy_text};
use ragmaker_text::{FILE_TOO_LARGE, NOT_TEXT, Prior, Text, UNENCODABLE, unencodable};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Bounded, Budget, Code, Error, Invocation, JsonSchema, Tool, ToolProfile, host,
};
use serde::Serialize;

/// The old text is not in the file.
pub const TEXT_NOT_FOUND: Code =
    Code::new("TEXT_NOT_FOUND", "Read the file again and copy the old text exactly, white space included.");
/// The old text is in the file more or less often than was said.
pub const WRONG_COUNT: Code = Code::new(
    "WRONG_COUNT",
    "Add surrounding lines until the old text is unique, or give the number of occurrences with --count.",
);

/// The largest file that is changed (256 MiB).
const MAX: u64 = 256 << 20;

/// Replace an exact text in a file and keep everything around it, byte for byte, in the file's encoding. The old text
/// must occur as often as `--count` says. To write a whole file use `ragmaker-write-file`. Returns the number of
/// replacements and a diff.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// file to change; a relative path starts at the project root
    #[argh(option)]
    pub path: String,
    /// text to replace, exactly as it is in the file
    #[argh(option)]
    pub old_text: String,
    /// replacement text; may be empty
    #[argh(option)]
    pub new_text: String,
    /// number of occurrences of the old text; all are replaced, or none if the number is wrong
    #[argh(option, default = "Bounded::new(1)")]
    pub count: Bounded<1, { u64::MAX }>,
}

/// The change.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path that was used.
    pub path: String,
    /// The number of replacements.
    pub replacements: usize,
    /// The change as a unified diff.
    pub diff: String,
    /// Whether the diff is longer than an answer and was cut; the file is changed all the same.
    pub truncated: bool,
    /// The encoding that the file is in.
    pub encoding: &'static str,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE.repeating();
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Files];
    const OPERANDS: &'static [&'static str] = &["--path"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[
            TEXT_NOT_FOUND,
            WRONG_COUNT,
            NOT_TEXT,
            UNENCODABLE,
            FILE_TOO_LARGE,
            ragmaker_files::FILE_LOCKED,
            ragmaker_files::PATH_NOT_WRITABLE,
        ],
        ragmaker_files::PATH_ERRORS,
        ragmaker_files::FILE_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let unusable = match self.old_text.as_str() {
            "" => Some(("it is empty", "Use ragmaker-write-file to write a whole file.")),
            old if old == self.new_text => Some(("--new-text is the same", "Give the changed text in --new-text.")),
            _ => None,
        };
        if let Some((reason, remedy)) = unusable {
            let error = ARGUMENT_ERROR.error(format!("--old-text is invalid: {reason}"));
            return Err(error.remedy(remedy).detail("argument", "--old-text"));
        }
        let place = Roots::discover(&invocation.host)?.place_to_write(&self.path)?;
        let path = place.path();
        let _lock = place.lock_existing()?;
        let mut bytes = vec![];
        place.open()?.take(MAX + 1).read_to_end(&mut bytes).map_err(|error| io_error(&error, &path))?;
        if bytes.len() as u64 > MAX {
            return Err(FILE_TOO_LARGE.error(format!("{} has more than {MAX} bytes", path.display())));
        }
        let prior = || Prior::of_process().with_texts(&place.similar_files());
        let text = Text::decode(bytes, &prior).map_err(|_| {
            NOT_TEXT.error(format!("{} is not text", path.display())).remedy("Only text can be modified.")
        })?;
        let (found, new) = self.find(&text.text);
        let count = found.len();
        if count == 0 {
            return Err(self.not_found(&text.text, &lossy_text(path).0));
        }
        if count as u64 != self.count.get() {
            let lines: Vec<usize> = found.iter().take(20).map(|range| line_of(&text.text, range.start)).collect();
            return Err(WRONG_COUNT
                .error(format!("the old text is in {} {count} times, not {}", path.display(), self.count.get()))
                .detail("count", count)
                .detail("lines", lines));
        }
        let encoding = text.identified.encoding;
        let changed = text.replace(&found, &new).map_err(|c| unencodable(c, encoding.name()))?;
        place.write(&changed, false)?;
        let mut after = String::with_capacity(text.text.len());
        let mut copied = 0;
        for range in &found {
            after.push_str(&text.text[copied..range.start]);
            after.push_str(&new);
            copied = range.end;
        }
        after.push_str(&text.text[copied..]);
        let answer = Answer {
            path: lossy_text(path).0,
            replacements: count,
            diff: String::new(),
            truncated: false,
            encoding: encoding.name(),
        };
        let diff = similar::TextDiff::from_lines(&text.text, &after);
        let diff = diff.unified_diff().header(&self.path, &self.path).to_string();
        let shown = Budget::for_frame(&answer).take_text(&diff);
        Ok(Answer { truncated: shown.len() < diff.len(), diff: shown.to_owned(), ..answer })
    }
}

impl Args {
    /// The ranges of the old text, and the new text. Both are searched with the file's newlines if the given text does
    /// not occur as it is.
    fn find(&self, text: &str) -> (Vec<Range<usize>>, String) {
        let positions = |old: &str| text.match_indices(old).map(|(at, found)| at..at + found.len()).collect::<Vec<_>>();
        let as_given = positions(&self.old_text);
        if !text.contains("\r\n") {
            if as_given.is_empty() && self.old_text.contains("\r\n") {
                return (positions(&self.old_text.replace("\r\n", "\n")), self.new_text.replace("\r\n", "\n"));
            }
            return (as_given, self.new_text.clone());
        }
        let windows = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
        let all_windows = text.matches('\n').count() == text.matches("\r\n").count();
        let new = if all_windows { windows(&self.new_text) } else { self.new_text.clone() };
        if as_given.is_empty() {
            (positions(&windows(&self.old_text)), windows(&self.new_text))
        } else {
            (as_given, new)
        }
    }

    fn not_found(&self, text: &str, path: &str) -> Error {
        let error = TEXT_NOT_FOUND.error(format!("the old text is not in {path}")).detail("path", path);
        // The likeliest mistake is white space.
        let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let first = self.old_text.lines().map(plain).find(|line| !line.is_empty());
        let near = first.and_then(|first| text.lines().position(|line| plain(line).contains(&first)));
        match near {
            Some(index) => error
                .remedy(format!("Line {} is similar to its first line: read it and copy it exactly.", index + 1))
                .detail("near_line", index + 1),
            None => error,
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(old: &str, new: &str) -> Args {
        Args::from_args(&["modify"], &["--path", "a", "--old-text", old, "--new-text", new]).unwrap()
    }

    /// `text` with the found places replaced.
    fn replaced(text: &str, old: &str, new: &str) -> String {
        let (found, new) = args(old, new).find(text);
        let mut text = text.to_owned();
        found.into_iter().rev().for_each(|range| text.replace_range(range, &new));
        text
    }

    #[test]
    fn newlines_stay_those_of_the_file() {
        for (text, old, new, expected) in [
            ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
            ("a\r\nb\r\n", "a\nb", "x\ny", "x\r\ny\r\n"),
            ("a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"),
            ("a\r\nb\r\n", "a\r\n", "x\r\n", "x\r\nb\r\n"),
            // With both kinds, the new text is written as it is given.
            ("a\r\nb\nc", "b\n", "x\n", "a\r\nx\nc"),
            ("a\r\nb\nc", "a\n", "x\n", "x\r\nb\nc"),
        ] {
            assert_eq!(replaced(text, old, new), expected, "{text:?} {old:?} {new:?}");
        }
    }

    #[test]
    fn places_that_overlap_are_found_once() {
        assert_eq!(args("aa", "b").find("aaaa aaa").0, [0..2, 2..4, 5..7]);
        assert!(args("A", "b").find("a").0.is_empty(), "capitals differ");
    }

    #[test]
    fn a_text_with_other_white_space_is_pointed_to() {
        let error = |old: &str| args(old, "x").not_found("one\n  let  a =\t1;\nlet b", "a.rs");
        assert_eq!(error("\n\nlet a = 1;\nlet c").details()["near_line"], 2);
        for old in ["let d", " \n\t"] {
            let error = error(old);
            assert!(error.is(TEXT_NOT_FOUND) && !error.details().contains_key("near_line"), "{old:?}");
        }
    }

    #[test]
    fn lines_are_counted_from_1() {
        assert_eq!([0, 1, 2, 3].map(|at| line_of("a\n\nb", at)), [1, 1, 2, 3]);
    }
}
