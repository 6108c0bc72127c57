//! `ragmaker-read-many-files`: returns the texts of files, folders and globs in one answer.

use std::{collections::BTreeSet, io::Read, path::PathBuf};

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{Glob, NO_FILES, ResolvedPath, Roots, Walk, io_error, lossy_text, walk};
use ragmaker_office::{OfficeDocument, notebook_file};
use ragmaker_text::{ByteSource, NOT_TEXT, Prior, Text};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Budget, Caller, Code, ContentOrigin, Error, Invocation, Isolation, JsonSchema, Limit,
    Next, NextWithin, OFFSET_BEYOND_END, Offset, Tool, ToolProfile, beyond_end, host,
};
use serde::Serialize;

/// Files and folders that are left out of folders by default: output and caches of tools.
const DEFAULT_EXCLUDES: [&str; 10] = [
    "node_modules/",
    "target/",
    "dist/",
    "build/",
    "__pycache__/",
    ".venv/",
    "*.lock",
    "package-lock.json",
    "*.min.js",
    "*.map",
];

/// The largest file that is taken in; ragmaker-read-file reads larger ones (64 MiB).
const MAX: u64 = 64 << 20;

/// A file for whose text fewer characters than this are left starts the next answer.
const LEAST_TEXT: usize = 200;
/// The number of skipped files that are listed.
const SKIPPED: usize = 20;

/// Read the text of several files, folders and globs in one answer, PDFs and office documents too; one that cannot be
/// read does not fail the others. For one large file use `ragmaker-read-file`. Returns each text, what was skipped and
/// why, paged by next.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// file, folder or glob to read; relative ones start at the project root; may be repeated
    #[argh(option)]
    pub path: Vec<String>,
    /// glob of files to read in folders, such as *.md; may be repeated
    #[argh(option)]
    pub include: Vec<String>,
    /// glob of files to exclude in folders; may be repeated
    #[argh(option)]
    pub exclude: Vec<String>,
    /// do not read subfolders
    #[argh(switch)]
    pub no_recursive: bool,
    /// include files that are excluded by default: lock files, folders such as target
    #[argh(switch)]
    pub no_default_excludes: bool,
    /// include files that an ignore file lists
    #[argh(switch)]
    pub no_ignore: bool,
    /// number of files to skip (from `next`)
    #[argh(option, default = "Offset::new(0)")]
    pub offset: Offset,
    /// maximum number of files, each of them whole (default: as many as fit)
    #[argh(option)]
    pub limit: Option<Limit>,
    /// number of characters of the first file to skip (from `next`)
    #[argh(option, default = "Offset::new(0)")]
    pub column_offset: Offset,
}

/// The texts of files.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The files, in the order they were named; those of a folder by path.
    pub files: Vec<FileText>,
    /// The files that were not read, with the reasons; at most 20.
    pub skipped: Vec<Skipped>,
    /// The number of files to read.
    pub total: usize,
    /// Whether files, or a part of the last file, remain after the returned ones.
    pub truncated: bool,
    /// The arguments for the next page; null on the last page.
    pub next: Option<NextWithin>,
}

/// The text of a file.
#[derive(Serialize, JsonSchema)]
pub struct FileText {
    /// The absolute path.
    pub path: String,
    /// The text, or the part of it that this answer takes.
    pub content: String,
    /// The encoding that it was in; PDF, DOCX, PPTX, XLSX or EPUB for the text of a document.
    pub encoding: &'static str,
    /// Whether bytes that are invalid in the encoding are shown as U+FFFD.
    pub lossy: bool,
    /// The number of lines in the file.
    pub total_lines: usize,
    /// Whether the text continues in the next answer.
    pub truncated: bool,
}

/// A file that was not read.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Skipped {
    /// Its path.
    pub path: String,
    /// The reason, with the code of the error.
    pub reason: String,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const HOST_OPTIONS: &'static [&'static str] = host::FILES;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Files;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Files];
    const OPERANDS: &'static [&'static str] = &["--path"];
    const ERRORS: &'static [&'static [Code]] = &[&[
        NO_FILES,
        NOT_TEXT,
        OFFSET_BEYOND_END,
        ragmaker_files::FILE_NOT_FOUND,
        ragmaker_files::PERMISSION_DENIED,
        ragmaker_files::PATH_CHANGED,
        ragmaker_files::ROOT_NOT_USABLE,
        ragmaker_files::ROOT_TOO_BROAD,
        ragmaker_files::IO_ERROR,
    ]];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        if self.path.is_empty() {
            return Err(ARGUMENT_ERROR
                .error("--path is required")
                .remedy(match invocation.caller {
                    Caller::Person => "Add --path VALUE; it may be repeated.",
                    Caller::Model => "Add \"path\" to the arguments: a list of files, folders and globs.",
                })
                .detail("argument", "--path"));
        }
        let roots = Roots::discover(&invocation.host)?;
        let mut skipped = vec![];
        let paths = self.paths(&roots, &mut skipped)?;
        let total = paths.len();
        let first = self.offset.within(total, "files")?;
        let frame = Answer {
            files: vec![],
            skipped: skipped.iter().take(SKIPPED).cloned().collect(),
            total,
            truncated: true,
            next: Some(NextWithin::WIDEST),
        };
        let mut budget = Budget::for_frame(&frame);
        let Answer { mut files, mut skipped, .. } = frame;
        let from = |offset, column_offset| Some(NextWithin { next: Next { offset }, column_offset });
        let mut next = None;
        for (index, path) in paths.into_iter().enumerate().skip(first) {
            if self.limit.is_some_and(|limit| files.len() == limit.index()) {
                next = from(index, 0);
                break;
            }
            let (shown_path, is_lossy) = lossy_text(path);
            let read = if is_lossy {
                Err(NO_FILES.error("its name is not UTF-8, and is shown with U+FFFD: rename it to read it"))
            } else {
                self.read(&roots, &shown_path)
            };
            let text = match read {
                Ok(text) => text,
                Err(error) => {
                    let one = Skipped { path: shown_path, reason: error.to_string() };
                    if skipped.len() < SKIPPED && budget.take(&one) {
                        skipped.push(one);
                    }
                    continue;
                }
            };
            let left_out = if index == first { self.column_offset.index() } else { 0 };
            let rest = after(&text.text, left_out).map_err(|error| error.detail("path", shown_path.clone()))?;
            let file = FileText {
                path: shown_path,
                content: String::new(),
                encoding: text.encoding,
                lossy: text.lossy,
                total_lines: text.text.lines().count(),
                truncated: true,
            };
            if self.limit.is_some() {
                files.push(FileText { content: rest.to_owned(), truncated: false, ..file });
                continue;
            }
            let mut rest_of_budget = budget;
            if !rest_of_budget.take(&file) || (rest_of_budget.left() < LEAST_TEXT && !files.is_empty()) {
                next = from(index, 0);
                break;
            }
            let content = rest_of_budget.take_text(rest);
            let truncated = content.len() < rest.len();
            if truncated {
                next = from(index, left_out + content.chars().count());
            }
            if truncated && content.is_empty() {
                break;
            }
            budget = rest_of_budget;
            files.push(FileText { content: content.to_owned(), truncated, ..file });
            if truncated {
                break;
            }
        }
        // After the first page, the rest may be unreadable.
        if files.is_empty() && first == 0 {
            return Err(NO_FILES
                .error("no readable text file")
                .remedy("See details.skipped for the reasons; ragmaker-find-files finds files.")
                .detail("skipped", serde_json::to_value(skipped).unwrap_or_default()));
        }
        Ok(Answer { files, skipped, total, truncated: next.is_some(), next })
    }
}

impl Args {
    /// Every file that is meant, once.
    fn paths(&self, roots: &Roots, skipped: &mut Vec<Skipped>) -> Result<Vec<PathBuf>, Error> {
        let (mut seen, mut paths) = (BTreeSet::new(), vec![]);
        for path in &self.path {
            let found = match roots.place(path) {
                Ok(place) if place.path().is_dir() => {
                    if !self.no_ignore
                        && let Err(error) = place.check_ignored()
                    {
                        skipped.push(Skipped { path: path.clone(), reason: error.to_string() });
                        continue;
                    }
                    self.files_in(&place, None)?
                }
                Ok(place) => vec![place.path()],
                Err(error) => match self.matching(roots, path)? {
                    Some(found) if !found.is_empty() => found,
                    globbed => {
                        let reason =
                            globbed.map_or_else(|| error.to_string(), |_| "no file matches the glob".to_owned());
                        skipped.push(Skipped { path: path.clone(), reason });
                        continue;
                    }
                },
            };
            paths.extend(found.into_iter().filter(|path| seen.insert(path.clone())));
        }
        Ok(paths)
    }

    /// The files that match `path` as a glob; `None` if it is not a glob.
    fn matching(&self, roots: &Roots, path: &str) -> Result<Option<Vec<PathBuf>>, Error> {
        if !path.contains(['*', '?', '[', '{']) {
            return Ok(None);
        }
        // The directories before the first name with a wildcard need no search.
        let names: Vec<&str> = path.split('/').collect();
        let plain = names.iter().take_while(|name| !name.contains(['*', '?', '[', '{'])).count();
        let directory = match names[..plain].join("/") {
            none if none.is_empty() => {
                if path.starts_with('/') {
                    "/".to_owned()
                } else {
                    ".".to_owned()
                }
            }
            directory => directory,
        };
        let Ok(place) = roots.place(&directory) else { return Ok(Some(vec![])) };
        if !self.no_ignore && place.ignored().is_some() {
            return Ok(Some(vec![]));
        }
        self.files_in(&place, Some(&names[plain..].join("/"))).map(Some)
    }

    fn files_in(&self, place: &ResolvedPath, pattern: Option<&str>) -> Result<Vec<PathBuf>, Error> {
        let defaults = DEFAULT_EXCLUDES.iter().filter(|_| !self.no_default_excludes).map(ToString::to_string);
        let exclude: Vec<String> = defaults.chain(self.exclude.iter().cloned()).collect();
        let options = Walk {
            include: &self.include,
            exclude: &exclude,
            depth: self.no_recursive.then_some(1),
            no_ignore: self.no_ignore,
            hidden: false,
        };
        // A pattern with a slash is meant from its directory on.
        let glob = pattern.map(|pattern| Glob::new(&place.path(), &format!("/{pattern}"))).transpose()?;
        let mut files: Vec<_> = walk(place, options)?
            .build()
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
            .map(ragmaker_files::DirEntry::into_path)
            .filter(|path| glob.as_ref().is_none_or(|glob| glob.matches(path)))
            .collect();
        let mut entries = place.entry_reader()?;
        files.retain(|path| entries.metadata(path).is_some());
        files.sort_unstable();
        Ok(files)
    }

    fn read(&self, roots: &Roots, path: &str) -> Result<Decoded, Error> {
        let place = roots.place(path)?;
        if !self.no_ignore {
            place.check_ignored()?;
        }
        let mut bytes = vec![];
        let read = place.open()?.take(MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| io_error(&error, &place.path()))?;
        if bytes.len() as u64 > MAX {
            return Err(too_large());
        }
        let source = ByteSource::Memory(bytes);
        let document = OfficeDocument::open(&source).map_err(|error| io_error(&error, &place.path()))?;
        if let Some(document) = document {
            let encoding = document.format().name();
            let converted = document.convert(&source, None).map_err(|failure| failure.at(path))?;
            let text = all_of(&converted).map_err(|error| io_error(&error, &place.path()))?;
            return Ok(Decoded { text: text.ok_or_else(too_large)?, encoding, lossy: false });
        }
        let notebook = notebook_file(&place.path(), &source).map_err(|error| io_error(&error, &place.path()))?;
        if let Some(ByteSource::Memory(markdown)) = notebook {
            let text = String::from_utf8_lossy(&markdown).into_owned();
            return Ok(Decoded { text, encoding: "IPYNB", lossy: false });
        }
        let ByteSource::Memory(bytes) = source else { return Err(too_large()) };
        match Text::decode(bytes, &|| Prior::of_process().with_texts(&place.similar_files())) {
            Ok(Text { text, lossy, identified, .. }) => {
                Ok(Decoded { text, encoding: identified.encoding.name(), lossy })
            }
            Err(bytes) => {
                let mime_type = ragmaker_media::binary_type(&bytes).unwrap_or("application/octet-stream");
                Err(NOT_TEXT.error(format!("it is not text: it is {mime_type}")))
            }
        }
    }
}

/// The text of a file, or what a document was converted to.
struct Decoded {
    text: String,
    /// The encoding that it was in, or the format of the document.
    encoding: &'static str,
    lossy: bool,
}

/// The text after its first `skipped` characters.
fn after(text: &str, skipped: usize) -> Result<&str, Error> {
    let start = text.char_indices().nth(skipped).map(|(start, _)| start);
    if start.is_none() && skipped > 0 {
        let total = text.chars().count();
        return Err(beyond_end("--column-offset", skipped as u64, total as u64, "characters of the file"));
    }
    Ok(&text[start.unwrap_or_default()..])
}

fn too_large() -> Error {
    NO_FILES.error("it has more than 64 MiB: use ragmaker-read-file")
}

/// The whole converted text, which is UTF-8; `None` if it is larger than the limit.
fn all_of(source: &ByteSource) -> std::io::Result<Option<String>> {
    if source.size() > MAX {
        return Ok(None);
    }
    let mut bytes = vec![0; usize::try_from(source.size()).unwrap_or_default()];
    let count = source.read_at(0, &mut bytes)?;
    bytes.truncate(count);
    Ok(Some(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ragmaker_tool::HostOptions;

    use super::*;

    /// A folder with `files`, and the paths that `arguments` name in it, relative to it; then those that were skipped.
    fn named(files: &[&str], arguments: &[&str]) -> (Vec<String>, Vec<String>) {
        let (_folder, root) = ragmaker_testkit::folder("project");
        for file in files {
            ragmaker_testkit::write(&root, file, "a text");
        }
        let host = HostOptions { project_root: Some(root.display().to_string()), ..HostOptions::default() };
        let roots = Roots::discover(&host).unwrap();
        let mut skipped = vec![];
        let paths = Args::from_args(&["read"], arguments).unwrap().paths(&roots, &mut skipped).unwrap();
        let relative = |path: PathBuf| path.strip_prefix(&root).unwrap_or(Path::new("?")).display().to_string();
        (paths.into_iter().map(relative).collect(), skipped.into_iter().map(|one| one.path).collect())
    }

    #[test]
    fn files_folders_and_globs_name_each_file_once() {
        let files = ["b.md", "a.md", "sub/c.md", "sub/deep/d.md", "sub/e.txt", "sub/lib.lock", "target/f.md"];
        for (arguments, expected) in [
            (vec!["--path", "b.md", "--path", "a.md", "--path", "b.md"], vec!["b.md", "a.md"]),
            (vec!["--path", "sub"], vec!["sub/c.md", "sub/deep/d.md", "sub/e.txt"]),
            (vec!["--path", "sub", "--no-recursive"], vec!["sub/c.md", "sub/e.txt"]),
            (vec!["--path", "sub", "--include", "*.md"], vec!["sub/c.md", "sub/deep/d.md"]),
            (vec!["--path", "sub", "--exclude", "deep/"], vec!["sub/c.md", "sub/e.txt"]),
            (vec!["--path", ".", "--include", "*.lock", "--no-default-excludes"], vec!["sub/lib.lock"]),
            // A glob starts where its folder is; what is named first comes first.
            (vec!["--path", "sub/c.md", "--path", "*.md"], vec!["sub/c.md", "a.md", "b.md"]),
            (vec!["--path", "sub/*.md"], vec!["sub/c.md"]),
            (vec!["--path", "sub/**/*.md"], vec!["sub/c.md", "sub/deep/d.md"]),
            (vec!["--path", "s?b/{c,e}.*"], vec!["sub/c.md", "sub/e.txt"]),
            (vec!["--path", "target/f.md"], vec!["target/f.md"]),
        ] {
            assert_eq!(
                named(&files, &arguments),
                (expected.into_iter().map(String::from).collect(), vec![]),
                "{arguments:?}"
            );
        }
    }

    #[test]
    fn what_names_nothing_is_skipped() {
        let arguments = ["--path", "no.md", "--path", "a.md", "--path", "*.rst", "--path", "none/*.md"];
        assert_eq!(
            named(&["a.md"], &arguments),
            (vec!["a.md".to_owned()], ["no.md", "*.rst", "none/*.md"].map(String::from).into())
        );
    }

    #[test]
    fn characters_are_skipped_and_not_bytes() {
        assert_eq!(after("\u{6f6e}\u{4f4d} low", 2).unwrap(), " low");
        for text in ["", "a"] {
            assert_eq!(after(text, 0).unwrap(), text);
        }
        for (text, skipped, total) in [("\u{6f6e}\u{4f4d}", 2, 2), ("\u{6f6e}", 9, 1), ("", 1, 0)] {
            let error = after(text, skipped).unwrap_err();
            assert!(error.is(OFFSET_BEYOND_END) && error.details()["total"] == total, "{error}");
        }
    }
}
