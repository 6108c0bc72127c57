//! The search: ripgrep's searcher, applied to the text that `ragmaker-read-file` returns for each file.

use std::{
    collections::HashMap,
    ffi::OsString,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Mutex,
};

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};
use ragmaker_files::{Opener, ResolvedPath, WalkBuilder, WalkState, is_gone, lossy_text};
use ragmaker_office::{OfficeDocument, notebook_file};
use ragmaker_text::{ByteSource, Prior, Reader, SAMPLE};
use ragmaker_tool::JsonSchema;
use serde::Serialize;

/// The maximum length of a line that is searched (64 MiB), because a line is read into memory.
const MAX_LINE: usize = 64 << 20;

/// The maximum number of characters of a line that are returned.
const LINE: usize = 500;

/// Fewer characters than the shortest match takes in an answer.
pub(crate) const SHORTEST: usize = 40;

/// A line that matches.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Match {
    /// The absolute path of the file.
    pub path: String,
    /// Set where the path is not UTF-8: it is shown with U+FFFD and cannot be used as it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub path_is_lossy: bool,
    /// The line, counted from 1.
    pub line: u64,
    /// The start of the first match in the line, in characters from 1.
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

/// The search options.
#[derive(Clone)]
pub(crate) struct Search {
    pub(crate) matcher: RegexMatcher,
    pub(crate) context: usize,
    /// The number of matches that are kept, the first ones by path and line; further ones are only counted.
    pub(crate) keep: usize,
}

/// The result of the search.
#[derive(Default)]
pub(crate) struct SearchResult {
    pub(crate) matches: Vec<Match>,
    pub(crate) total: usize,
    pub(crate) files: usize,
    pub(crate) unreadable: Vec<String>,
}

impl SearchResult {
    /// Leaves the first `keep` matches, in order.
    fn sort(&mut self, keep: usize) {
        self.matches.sort_unstable_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        self.matches.truncate(keep);
    }
}

impl Search {
    /// Searches one file.
    pub(crate) fn file(&self, place: &ResolvedPath, file: File, size: u64) -> SearchResult {
        let mut found = SearchResult::default();
        let prior = |_: &Path| Prior::of_process().with_texts(&place.similar_files());
        Worker::new(self, &prior).search(&place.path(), file, size, &mut found);
        found.sort(self.keep);
        found
    }

    /// Searches every file of a walk, on every processor.
    pub(crate) fn tree(&self, walk: &mut WalkBuilder, opener: &Opener) -> SearchResult {
        let all = Mutex::new(SearchResult::default());
        let priors = Priors { opener, known: Mutex::default() };
        let prior = |path: &Path| priors.of(path);
        walk.build_parallel().run(|| {
            let mut worker = Worker::new(self, &prior);
            let mut share = ThreadResult { own: SearchResult::default(), all: &all };
            Box::new(move |entry| {
                match entry {
                    Err(error) if error.io_error().is_some_and(is_gone) => {}
                    Err(error) => share.own.unreadable.push(error.to_string()),
                    Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                        match opener.open(entry.path()) {
                            Ok((file, size)) => worker.search(entry.path(), file, size, &mut share.own),
                            Err(error) if is_gone(&error) => {}
                            Err(error) => share.own.unreadable.push(format!("{}: {error}", entry.path().display())),
                        }
                    }
                    Ok(_) => {}
                }
                WalkState::Continue
            })
        });
        let mut found = all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.sort(self.keep);
        found.unreadable.sort_unstable();
        found
    }
}

/// The results of one thread, added to the common result when the thread ends.
struct ThreadResult<'a> {
    own: SearchResult,
    all: &'a Mutex<SearchResult>,
}

impl Drop for ThreadResult<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.files += self.own.files;
        all.total += self.own.total;
        all.matches.append(&mut self.own.matches);
        all.unreadable.append(&mut self.own.unreadable);
    }
}

/// The priors of short texts, each made once for a folder and an extension.
struct Priors<'a> {
    opener: &'a Opener,
    known: Mutex<HashMap<(PathBuf, Option<OsString>), Prior>>,
}

impl Priors<'_> {
    fn of(&self, path: &Path) -> Prior {
        let key = (path.with_file_name(""), path.extension().map(OsString::from));
        let known = || self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(prior) = known().get(&key) {
            return prior.clone();
        }
        // Other threads go on meanwhile.
        let prior = Prior::of_process().with_texts(&self.opener.similar_files(path));
        known().insert(key, prior.clone());
        prior
    }
}

struct Worker<'a> {
    search: &'a Search,
    /// The prior for the encoding of the file at a path.
    prior: &'a (dyn Fn(&Path) -> Prior + Sync),
    searcher: Searcher,
    /// The start of the current file.
    head: Vec<u8>,
}

impl<'a> Worker<'a> {
    fn new(search: &'a Search, prior: &'a (dyn Fn(&Path) -> Prior + Sync)) -> Self {
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(search.context)
            .after_context(search.context)
            .bom_sniffing(false)
            .binary_detection(BinaryDetection::none())
            .heap_limit(Some(MAX_LINE))
            .build();
        Self { search, prior, searcher, head: vec![0; SAMPLE] }
    }

    /// Searches the text of a file; of a document, the text that it is converted to.
    fn search(&mut self, path: &Path, file: File, size: u64, found: &mut SearchResult) {
        let source = ByteSource::File(file, size);
        let searched = match self.document(&source) {
            Ok((count, None)) => match notebook_file(path, &source) {
                Ok(None) => self.search_text(path, &source, count, found),
                Ok(Some(markdown)) => self.search_converted(path, &markdown, found),
                Err(error) => Err(error),
            },
            Ok((_, Some(document))) => match document.convert(&source, None) {
                Ok(text) => self.search_converted(path, &text, found),
                Err(failure) => {
                    found.unreadable.push(failure.at(&path.to_string_lossy()).to_string());
                    return;
                }
            },
            Err(error) => Err(error),
        };
        if let Err(error) = searched {
            found.unreadable.push(format!("{}: {error}", path.display()));
        }
    }

    /// Reads the head of `source`; returns its length, and the document that the source is.
    fn document(&mut self, source: &ByteSource) -> io::Result<(usize, Option<OfficeDocument>)> {
        let count = source.read_at(0, &mut self.head)?;
        let may_be = OfficeDocument::may_start_with(&self.head[..count]);
        Ok((count, if may_be { OfficeDocument::open(source)? } else { None }))
    }

    fn search_converted(&mut self, path: &Path, text: &ByteSource, found: &mut SearchResult) -> io::Result<()> {
        let count = text.read_at(0, &mut self.head)?;
        self.search_text(path, text, count, found)
    }

    /// Searches `source`, whose first `count` bytes are in the head.
    fn search_text(
        &mut self,
        path: &Path,
        source: &ByteSource,
        count: usize,
        found: &mut SearchResult,
    ) -> io::Result<()> {
        let prior = || (self.prior)(path);
        let mut text = Reader::new(source, &self.head[..count], &prior);
        let before = (found.matches.len(), found.total);
        let mut lines = MatchLines {
            search: self.search,
            path,
            most: before.0.saturating_add(self.search.keep),
            found,
            before: vec![],
        };
        let searched = match text.whole_if_utf8() {
            Some(text) => self.searcher.search_slice(&self.search.matcher, text, &mut lines),
            None => self.searcher.search_reader(&self.search.matcher, &mut text, &mut lines),
        };
        if searched.is_err() || text.is_not_text() {
            // Lines may have matched before that was known.
            found.matches.truncate(before.0);
            found.total = before.1;
        } else {
            found.files += 1;
        }
        if found.matches.len() / 2 >= self.search.keep {
            found.sort(self.search.keep);
        }
        searched
    }
}

/// The matching lines of one file, added to what was found.
struct MatchLines<'a> {
    search: &'a Search,
    path: &'a Path,
    found: &'a mut SearchResult,
    /// The maximum number of matches that are kept after this file.
    most: usize,
    /// Lines before a match that is still to come.
    before: Vec<String>,
}

impl MatchLines<'_> {
    fn is_full(&self) -> bool {
        self.found.matches.len() >= self.most
    }
}

impl Sink for MatchLines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.found.total += 1;
        let before = std::mem::take(&mut self.before);
        if self.is_full() {
            // What follows belongs to no match that is kept.
            self.most = 0;
            return Ok(true);
        }
        let line = found.bytes();
        let start = self.search.matcher.find(line).ok().flatten().map_or(0, |range| range.start());
        let (text, column) = part(line, start);
        let (path, path_is_lossy) = lossy_text(self.path.to_path_buf());
        self.found.matches.push(Match {
            path,
            path_is_lossy,
            line: found.line_number().unwrap_or_default(),
            column,
            text,
            before,
            after: vec![],
        });
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        if self.most == 0 {
            return Ok(true);
        }
        let text = part(context.bytes(), 0).0;
        match (context.kind(), self.found.matches.last_mut()) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_the_match() {
        assert_eq!(part("潮 tide\r\n".as_bytes(), 4), ("潮 tide".to_owned(), 3));
        let line = format!("{}needle{}", "a".repeat(LINE * 2), "b".repeat(LINE * 2));
        let (text, column) = part(line.as_bytes(), LINE * 2);
        assert_eq!((text.chars().count(), column), (LINE, LINE * 2 + 1));
        assert!(text.contains("aaneedlebb"), "{text}");
        assert!(part(line.as_bytes(), 0).0.starts_with('a'));
    }
}
