//! `ragmaker-modify-file-content`: a piece of a text in place of another.

use std::{io::Read, ops::Range};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{Asked, Roots, io_error, shown};
use ragmaker_text::legacy::{Text, UNENCODABLE, unencodable};
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Code, Error, JsonSchema, OUTPUT_LIMIT, Tool, Within, json};
use serde::Serialize;

/// The file is larger than is changed at once.
pub const FILE_TOO_LARGE: Code = Code::new("FILE_TOO_LARGE", "Use a program that edits streams, such as sed.");
/// The file is no text.
pub const NOT_TEXT: Code = Code::new("NOT_TEXT", "Only text can be modified.");
/// The old text is not in the file.
pub const TEXT_NOT_FOUND: Code =
    Code::new("TEXT_NOT_FOUND", "Read the file again and copy the old text exactly, white space included.");
/// The old text is in the file more or less often than was said.
pub const WRONG_COUNT: Code =
    Code::new("WRONG_COUNT", "Add lines around the old text until it is there once, or say how often with --count.");

/// The largest file that is changed (256 MiB).
const MAX: u64 = 256 << 20;

/// Replace text in a file and keep everything around it, byte for byte.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// file to change; a relative path starts at the project root
    #[argh(option)]
    pub path: String,
    /// text to replace, exactly as it is in the file
    #[argh(option)]
    pub old_text: String,
    /// text to put in its place; may be empty
    #[argh(option)]
    pub new_text: String,
    /// how often the old text is in the file; all of them are replaced, or none if the number is wrong
    #[argh(option, default = "Within::new(1)")]
    pub count: Within<1, { u64::MAX }>,
    /// directory that relative paths start at (default: the nearest project, else the working directory)
    #[argh(option)]
    pub project_root: Option<String>,
    /// another directory that may be changed, as rw=DIR; may be repeated
    #[argh(option)]
    pub allow_root: Vec<String>,
}

/// What was changed.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path that was used.
    pub path: String,
    /// How many times the text was replaced.
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
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: false, destructive_hint: true, idempotent_hint: false, open_world_hint: false };
    const ERRORS: &'static [Code] = &[
        TEXT_NOT_FOUND,
        WRONG_COUNT,
        NOT_TEXT,
        UNENCODABLE,
        FILE_TOO_LARGE,
        ragmaker_files::FILE_NOT_FOUND,
        ragmaker_files::PATH_NOT_ALLOWED,
        ragmaker_files::PATH_NOT_WRITABLE,
        ragmaker_files::PERMISSION_DENIED,
        ragmaker_files::SYMLINK_LOOP,
        ragmaker_files::PATH_CHANGED,
        ragmaker_files::IS_A_DIRECTORY,
        ragmaker_files::NOT_A_REGULAR_FILE,
        ragmaker_files::ROOT_NOT_USABLE,
        ragmaker_files::ROOT_TOO_BROAD,
        ragmaker_files::IO_ERROR,
    ];

    fn run(self) -> Result<Answer, Error> {
        if self.old_text.is_empty() || self.old_text == self.new_text {
            let reason = if self.old_text.is_empty() { "it is empty" } else { "--new-text is the same" };
            return Err(ARGUMENT_ERROR
                .error(format!("--old-text can not be used: {reason}"))
                .remedy("Use ragmaker-write-file to write a whole file.")
                .detail("argument", "--old-text"));
        }
        let asked = Asked { project_root: self.project_root.as_deref(), allow_root: &self.allow_root, kb_root: &[] };
        let place = Roots::discover(asked)?.place_to_write(&self.path)?;
        let path = place.path();
        let _lock = place.lock_existing()?;
        let mut bytes = vec![];
        place.open()?.take(MAX + 1).read_to_end(&mut bytes).map_err(|error| io_error(&error, &path))?;
        if bytes.len() as u64 > MAX {
            return Err(FILE_TOO_LARGE.error(format!("{} has more than {MAX} bytes", path.display())));
        }
        let text = Text::decode(bytes).map_err(|_| NOT_TEXT.error(format!("{} is no text", path.display())))?;
        let (found, new) = self.find(&text.text);
        let count = found.len();
        if count == 0 {
            return Err(self.not_found(&text.text, &shown(path).0));
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
        let (diff, truncated) = diff(&text.text, &after, &self.path);
        Ok(Answer { path: shown(path).0, replacements: count, diff, truncated, encoding: encoding.name() })
    }
}

impl Args {
    /// Where the old text is, and the new text. Both take the file's newlines where the file has
    /// none of theirs.
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
                .remedy(format!("Line {} is like its first line: read it and copy it exactly.", index + 1))
                .detail("near_line", index + 1),
            None => error,
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The change as a unified diff, and whether it was cut to what an answer takes.
fn diff(before: &str, after: &str, path: &str) -> (String, bool) {
    let diff = similar::TextDiff::from_lines(before, after);
    let mut text = diff.unified_diff().header(path, path).to_string();
    let charset = json::Charset::from_env();
    let mut truncated = false;
    while json::cost(&text, charset) > OUTPUT_LIMIT - 3000 {
        truncated = true;
        let half = text.floor_char_boundary(text.len() * 3 / 4);
        text.truncate(text[..half].rfind('\n').map_or(half, |at| at + 1));
    }
    (text, truncated)
}
