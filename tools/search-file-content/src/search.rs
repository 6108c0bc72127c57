//! Searching: ripgrep's searcher over what `ragmaker-read-file` would show of each file.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Mutex,
};

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};
use ragmaker_files::{Opener, WalkBuilder, WalkState, shown};
use ragmaker_text::{
    Decode, SAMPLE, Source, Unicode,
    legacy::{Encoding, Identified, identify, identify_sample},
};
use ragmaker_tool::JsonSchema;
use serde::Serialize;

/// Larger files are searched as they are read, without decoding (64 MiB).
const IN_MEMORY: u64 = 64 << 20;

/// How many characters of a line are returned.
const LINE: usize = 500;

/// A line that matches.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Match {
    /// The absolute path of the file.
    pub path: String,
    /// The line, counted from 1.
    pub line: u64,
    /// Where in the line the first match begins, in characters from 1.
    pub column: usize,
    /// The line; of one longer than 500 characters the part around the match.
    pub text: String,
    /// The lines before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// What is searched for.
#[derive(Clone)]
pub(crate) struct Search {
    pub(crate) matcher: RegexMatcher,
    pub(crate) context: usize,
}

/// What was found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) matches: Vec<Match>,
    pub(crate) files: usize,
    pub(crate) unreadable: Vec<String>,
}

impl Search {
    /// Searches one file.
    pub(crate) fn file(&self, path: &Path, file: File) -> Found {
        let mut found = Found::default();
        self.clone().worker().search(path, file, &mut found);
        found
    }

    /// Searches every file of a walk, on every processor.
    pub(crate) fn tree(&self, walk: &mut WalkBuilder, opener: &Opener) -> Found {
        let all = Mutex::new(Found::default());
        walk.build_parallel().run(|| {
            let mut worker = self.clone().worker();
            let mut share = Share { own: Found::default(), all: &all };
            Box::new(move |entry| {
                match entry {
                    Err(error) => share.own.unreadable.push(error.to_string()),
                    Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                        match opener.open(entry.path()) {
                            Ok(file) => worker.search(entry.path(), file, &mut share.own),
                            Err(error) => share.own.unreadable.push(format!("{}: {error}", entry.path().display())),
                        }
                    }
                    Ok(_) => {}
                }
                WalkState::Continue
            })
        });
        let mut found = all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.matches.sort_unstable_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        found.unreadable.sort_unstable();
        found
    }

    fn worker(self) -> Worker {
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(self.context)
            .after_context(self.context)
            .bom_sniffing(false)
            .binary_detection(BinaryDetection::none())
            .build();
        Worker { search: self, searcher, bytes: vec![] }
    }
}

/// What one thread has found, added to the whole when the thread ends.
struct Share<'a> {
    own: Found,
    all: &'a Mutex<Found>,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.files += self.own.files;
        all.matches.append(&mut self.own.matches);
        all.unreadable.append(&mut self.own.unreadable);
    }
}

struct Worker {
    search: Search,
    searcher: Searcher,
    /// The file at hand; kept, for the next one is read into it too.
    bytes: Vec<u8>,
}

impl Worker {
    fn search(&mut self, path: &Path, file: File, found: &mut Found) {
        if let Err(error) = self.try_search(path, file, found) {
            found.unreadable.push(format!("{}: {error}", path.display()));
        }
    }

    fn try_search(&mut self, path: &Path, mut file: File, found: &mut Found) -> io::Result<()> {
        let size = file.metadata()?.len();
        let mut lines = Lines { search: &self.search, path, matches: vec![], before: vec![] };
        if size > IN_MEMORY {
            let source = Source::file(file.try_clone()?)?;
            let Some(identified) = identify(&source, SAMPLE as u64)? else { return Ok(()) };
            if identified.encoding == Encoding::Unicode(Unicode::Utf8) {
                self.searcher.search_file(&self.search.matcher, &file, &mut lines)?;
            } else {
                let text = decoded(&source, identified)?;
                self.searcher.search_slice(&self.search.matcher, text.as_bytes(), &mut lines)?;
            }
        } else {
            read(&mut file, size, &mut self.bytes)?;
            let Some(identified) = identify_bytes(&self.bytes) else { return Ok(()) };
            if identified.encoding == Encoding::Unicode(Unicode::Utf8) {
                self.searcher.search_slice(&self.search.matcher, &self.bytes[identified.mark..], &mut lines)?;
            } else {
                let mut text = String::new();
                identified.encoding.decoder().decode(&self.bytes[identified.mark..], true, &mut text);
                self.searcher.search_slice(&self.search.matcher, text.as_bytes(), &mut lines)?;
            }
        }
        found.files += 1;
        found.matches.append(&mut lines.matches);
        Ok(())
    }
}

/// Reads a file of `size` bytes into `bytes`: what it grows by meanwhile is left out.
fn read(file: &mut File, size: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.resize(usize::try_from(size).unwrap_or_default(), 0);
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(())
}

/// The encoding of a whole file in memory; `None` if it is no text.
fn identify_bytes(bytes: &[u8]) -> Option<Identified> {
    let head = &bytes[..bytes.len().min(SAMPLE)];
    let from = if head.is_ascii() && !head.contains(&0) && !head.contains(&0x1B) {
        // As `identify` does: the sample begins where the text stops being ASCII.
        let rest = &bytes[head.len()..];
        head.len() + rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len())
    } else {
        0
    };
    if from == bytes.len() {
        return Some(Identified { encoding: Encoding::Unicode(Unicode::Utf8), mark: 0 });
    }
    identify_sample(&bytes[from..bytes.len().min(from + SAMPLE)])
}

fn decoded(source: &Source, identified: Identified) -> io::Result<String> {
    let begin = identified.mark as u64;
    let mut chunks = ragmaker_text::Chunks::new(source, begin, source.size(), 0, identified.encoding.decoder());
    let mut text = String::new();
    while let Some(chunk) = chunks.next()? {
        text.push_str(chunk);
    }
    Ok(text)
}

/// The matching lines of one file.
struct Lines<'a> {
    search: &'a Search,
    path: &'a Path,
    matches: Vec<Match>,
    /// Lines before a match that is still to come.
    before: Vec<String>,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = found.bytes();
        let start = self.search.matcher.find(line).ok().flatten().map_or(0, |range| range.start());
        let (text, column) = part(line, start);
        self.matches.push(Match {
            path: shown(self.path.to_path_buf()).0,
            line: found.line_number().unwrap_or_default(),
            column,
            text,
            before: std::mem::take(&mut self.before),
            after: vec![],
        });
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let text = part(context.bytes(), 0).0;
        match (context.kind(), self.matches.last_mut()) {
            (SinkContextKind::After, Some(found)) => found.after.push(text),
            _ => self.before.push(text),
        }
        Ok(true)
    }
}

/// A line without its end, cut to what is around the byte `start`; and the column of that byte.
fn part(line: &[u8], start: usize) -> (String, usize) {
    let end = line.strip_suffix(b"\n").unwrap_or(line);
    let end = end.strip_suffix(b"\r").unwrap_or(end);
    let column = String::from_utf8_lossy(&line[..start]).chars().count();
    if end.len() <= LINE {
        return (String::from_utf8_lossy(end).into_owned(), column + 1);
    }
    let skipped = column.saturating_sub(LINE / 4);
    (String::from_utf8_lossy(end).chars().skip(skipped).take(LINE).collect(), column + 1)
}
