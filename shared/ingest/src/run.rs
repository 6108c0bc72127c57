//! The journal of a run, and the answer.
//!
//! Before the next page begins, a line for the finished page is appended to a journal beside the catalog, with the data
//! that the source needs to continue. A killed run leaves its journal, and the next run with the same key reads it. A
//! finished run replaces the journal by its report.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, BufWriter, Seek, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use ragmaker_catalog::Catalog;
use ragmaker_fs::{LockKind, Replace, create_derived_folder, lock_within, open_derived_file, write_atomically};
use ragmaker_project::knowledge_base::REPORTS;
use ragmaker_tool::{
    Budget, Caller, Code, Error,
    json::{self, Charset},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{Counts, PageResult, PageVerdict, progress::Progress};

/// Another process makes this run.
pub const RUN_IN_PROGRESS: Code =
    Code::new("RUN_IN_PROGRESS", "Wait for the other run to end, or choose another knowledge base.");
/// The report of a run cannot be written.
pub const REPORT_NOT_WRITABLE: Code =
    Code::new("REPORT_NOT_WRITABLE", "Check that the knowledge base is writable and that the disk has space.");

/// The time in which an interrupted run can be continued, because its fetched pages are still up to date.
const MAX_RESUME_AGE: Duration = Duration::from_hours(24);

/// The answer of a run: the verdicts for its pages.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// The number of pages with each verdict.
    pub counts: Counts,
    /// The pages whose verdict is not `unchanged`, failed and refused ones first, as many as fit.
    pub pages: Vec<PageResult>,
    /// The report of all pages, including unchanged ones: one JSON object per line.
    pub report_file: String,
    /// The number of pages whose verdict is not `unchanged`.
    pub total: usize,
    /// Whether the answer lacks some of them; the report has all.
    pub truncated: bool,
    /// Whether an interrupted run was continued.
    pub continued: bool,
}

/// The answer of a run with what its source says beside it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report<Facts> {
    /// The counts and the pages.
    #[serde(flatten)]
    pub summary: Summary,
    /// The rest.
    #[serde(flatten)]
    pub facts: Facts,
}

/// A run in progress.
#[derive(Debug)]
pub struct Run {
    report: PathBuf,
    journal: PathBuf,
    kept: PathBuf,
    file: File,
    pages: Vec<PageResult>,
    earlier: Vec<Value>,
    continued: bool,
    use_of_journal: UseOfJournal,
    /// Whether the run could not be brought to its end, so that the next one continues it.
    is_suspended: bool,
    stream: bool,
    /// The reader of the reasons.
    caller: Caller,
    progress: Progress,
}

/// Whether a later run can continue from the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UseOfJournal {
    /// No later run reads it.
    None,
    /// It has no entry yet.
    Empty,
    /// It has entries.
    Entries,
}

/// A line of the journal.
#[derive(Deserialize)]
struct Line {
    page: Option<PageResult>,
    state: Value,
}

impl Run {
    /// Starts the run `name`, or continues the interrupted run with the same `key`, which identifies the caller's
    /// request. `name` is the report's file name without its extension. With `stream`, each page is printed when it is
    /// done.
    ///
    /// # Errors
    ///
    /// [`RUN_IN_PROGRESS`] and [`REPORT_NOT_WRITABLE`].
    pub fn start(catalog: &Catalog, name: &str, key: &str, stream: bool) -> Result<Self, Error> {
        Self::open(catalog, name, Some(key), stream)
    }

    /// Starts the run `name` and discards what an interrupted one left: for a source whose documents are compared with
    /// the knowledge base so fast that those already recorded need not be remembered.
    ///
    /// # Errors
    ///
    /// As for [`Run::start`].
    pub fn start_over(catalog: &Catalog, name: &str, stream: bool) -> Result<Self, Error> {
        Self::open(catalog, name, None, stream)
    }

    /// The run whose reasons are in the words of `caller`: options are keys to those who write JSON.
    #[must_use]
    pub fn told_to(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }

    fn open(catalog: &Catalog, name: &str, key: Option<&str>, stream: bool) -> Result<Self, Error> {
        let folder = catalog.file().with_file_name(REPORTS);
        let [report, journal, kept] =
            ["jsonl", "part", "json"].map(|extension| folder.join(format!("{name}.{extension}")));
        let broken = |error: io::Error| not_writable(&journal, &error);
        create_derived_folder(&folder).map_err(|error| not_writable(&folder, &error))?;
        let file =
            open_derived_file(&journal, OpenOptions::new().read(true).append(true).create(true)).map_err(broken)?;
        let file = lock_within(file, LockKind::Exclusive, Instant::now()).map_err(broken)?.ok_or_else(|| {
            RUN_IN_PROGRESS.error("another process is performing this run").detail("journal", journal.to_string_lossy())
        })?;
        let mut run = Self {
            report,
            journal: journal.clone(),
            kept,
            file,
            pages: vec![],
            earlier: vec![],
            continued: false,
            use_of_journal: if key.is_some() { UseOfJournal::Empty } else { UseOfJournal::None },
            is_suspended: false,
            stream,
            caller: Caller::Person,
            progress: Progress::new(None, stream),
        };
        match key {
            Some(key) => run.restore(key),
            None => run.file.set_len(0),
        }
        .map_err(broken)?;
        Ok(run)
    }

    /// Reads what an interrupted run left; an older one, or one with another key, is discarded.
    fn restore(&mut self, key: &str) -> io::Result<()> {
        let first = serde_json::to_string(key)? + "\n";
        let age = SystemTime::now().duration_since(self.file.metadata()?.modified()?).unwrap_or_default();
        let mut end = 0;
        if age < MAX_RESUME_AGE {
            self.file.rewind()?;
            let mut lines = BufReader::new(&self.file);
            let mut line = vec![];
            // A line without its end was being written when the run was killed.
            while lines.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
                if end == 0 {
                    if line != first.as_bytes() {
                        break;
                    }
                } else {
                    let Ok(Line { page, state }) = serde_json::from_slice(&line) else { break };
                    self.pages.extend(page);
                    self.earlier.push(state);
                }
                end += line.len() as u64;
                line.clear();
            }
        }
        self.continued = !self.earlier.is_empty();
        if self.continued {
            self.use_of_journal = UseOfJournal::Entries;
        }
        self.file.set_len(end)?;
        if end == 0 {
            self.file.write_all(first.as_bytes())?;
        }
        Ok(())
    }

    /// The values that the interrupted run passed to [`Run::end`] and [`Run::checkpoint`], in order.
    pub fn earlier<S: DeserializeOwned>(&mut self) -> Vec<S> {
        let states = std::mem::take(&mut self.earlier);
        states.into_iter().filter_map(|state| serde_json::from_value(state).ok()).collect()
    }

    /// The pages so far, those of the run that this one continues included.
    pub fn pages(&self) -> &[PageResult] {
        &self.pages
    }

    /// Records a finished page, with the data with which the source can continue from here.
    ///
    /// # Errors
    ///
    /// [`REPORT_NOT_WRITABLE`].
    pub fn end(&mut self, page: PageResult, state: impl Serialize) -> Result<(), Error> {
        self.append(Some(&page), &state)?;
        self.show(page);
        Ok(())
    }

    /// Notes a page that failed because its source cannot be reached at all. It is in this run's report, but not in the
    /// journal, which stays: the next run of the same request continues this one, and asks for the page again.
    pub fn suspend(&mut self, page: PageResult) {
        self.is_suspended = true;
        // The interrupted run may have ended it; a report has one verdict for each page.
        self.pages.retain(|known| known.url != page.url);
        self.show(page);
    }

    fn show(&mut self, mut page: PageResult) {
        page.reason = page.reason.map(|reason| self.caller.advice(&reason, &|_| false));
        if self.stream {
            let mut out = vec![];
            // A page is texts, which can be written to memory.
            let _ = json::write_line(&page, Charset::from_env(), &mut out);
            // Whoever has closed the pipe wants no more of them.
            let _ = io::stdout().write_all(&out).and_then(|()| io::stdout().flush());
        }
        self.progress.ended(page.verdict);
        self.pages.push(page);
        self.progress.show();
    }

    /// Records the data with which the source can continue, without a page.
    ///
    /// # Errors
    ///
    /// [`REPORT_NOT_WRITABLE`].
    pub fn checkpoint(&mut self, state: impl Serialize) -> Result<(), Error> {
        self.append(None, &state)
    }

    fn append(&mut self, page: Option<&PageResult>, state: &impl Serialize) -> Result<(), Error> {
        if self.use_of_journal == UseOfJournal::Empty {
            self.use_of_journal = UseOfJournal::Entries;
        }
        let line = serde_json::json!({"page": page, "state": state}).to_string() + "\n";
        self.file.write_all(line.as_bytes()).map_err(|error| not_writable(&self.journal, &error))
    }

    /// The value that the last finished run of this name passed to [`Run::store_state`]. It has its default where there
    /// is none, or where its file is damaged.
    pub fn stored_state<S: DeserializeOwned + Default>(&self) -> S {
        let file = open_derived_file(&self.kept, OpenOptions::new().read(true));
        file.ok().and_then(|file| serde_json::from_reader(BufReader::new(file)).ok()).unwrap_or_default()
    }

    /// Keeps `value` for the next run of this name, whatever its key is.
    ///
    /// # Errors
    ///
    /// [`REPORT_NOT_WRITABLE`].
    pub fn store_state(&self, value: &impl Serialize) -> Result<(), Error> {
        write_whole(&self.kept, &|file| Ok(serde_json::to_writer(file, value)?))
    }

    /// Says how many pages are to come, so that a person who watches sees the time that is left.
    pub fn set_total(&mut self, pages: usize) {
        self.progress = Progress::new(Some(pages), self.progress.hidden);
    }

    /// Shows no progress: the caller prints the pages on the same terminal.
    pub fn hide_progress(&mut self) {
        self.progress.hidden = true;
    }

    /// Ends the run: writes its report and makes its answer. The journal of a run that was suspended is kept.
    ///
    /// # Errors
    ///
    /// [`REPORT_NOT_WRITABLE`].
    pub fn finish(self) -> Result<Summary, Error> {
        Ok(self.finish_with(())?.summary)
    }

    /// Like `finish`, for an answer that also has `facts`, whose size is subtracted from the budget.
    ///
    /// # Errors
    ///
    /// [`REPORT_NOT_WRITABLE`].
    pub fn finish_with<Facts: Serialize>(self, facts: Facts) -> Result<Report<Facts>, Error> {
        self.progress.clear();
        write_whole(&self.report, &|file| {
            for page in &self.pages {
                serde_json::to_writer(&mut *file, page)?;
                file.write_all(b"\n")?;
            }
            Ok(())
        })?;
        if !(self.is_suspended && self.use_of_journal == UseOfJournal::Entries) {
            fs::remove_file(&self.journal).map_err(|error| not_writable(&self.journal, &error))?;
        }

        let mut counts = Counts::default();
        self.pages.iter().for_each(|page| counts.add(page.verdict));
        let mut pages = self.pages;
        pages.retain(|page| page.verdict != PageVerdict::Unchanged);
        // Where not all of them fit, what needs attention comes first.
        pages.sort_by_key(|page| match page.verdict {
            PageVerdict::Failed => 0,
            PageVerdict::Refused => 1,
            _ => 2,
        });
        let frame = Summary {
            counts,
            pages: vec![],
            report_file: self.report.to_string_lossy().into_owned(),
            total: pages.len(),
            truncated: false,
            continued: self.continued,
        };
        let mut budget = Budget::for_frame(&frame);
        budget.take(&facts);
        let pages = budget.take_list(pages);
        Ok(Report { summary: Summary { truncated: pages.len() < frame.total, pages, ..frame }, facts })
    }
}

/// Replaces `path` by what `write` writes.
fn write_whole(path: &Path, write: &dyn Fn(&mut BufWriter<&mut File>) -> io::Result<()>) -> Result<(), Error> {
    let replace = Replace { sync_directory: false, ..Replace::default() };
    let buffered = |file: &mut File| {
        let mut file = BufWriter::new(file);
        write(&mut file).and_then(|()| file.flush())
    };
    write_atomically(path, replace, buffered).map(drop).map_err(|error| not_writable(path, &error))
}

fn not_writable(file: &Path, error: &io::Error) -> Error {
    REPORT_NOT_WRITABLE
        .error(format!("cannot write {}: {error}", file.display()))
        .detail("path", file.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: usize, verdict: PageVerdict) -> PageResult {
        PageResult {
            file_path: Some("x".repeat(60)),
            ..PageResult::new(format!("https://x.example/{number}"), verdict, "why")
        }
    }

    #[test]
    fn an_interrupted_run_goes_on_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("catalog.json")).unwrap();
        let start = |key: &str| Run::start(&catalog, "run", key, false);
        let mut run = start("a").unwrap();
        run.checkpoint("seed").unwrap();
        run.end(page(1, PageVerdict::Added), "one").unwrap();
        assert!(start("a").unwrap_err().is(RUN_IN_PROGRESS));
        drop(run);
        // Killed while it wrote a line.
        let journal = folder.path().join("reports/run.part");
        OpenOptions::new().append(true).open(&journal).unwrap().write_all(b"{\"page\": {\"ur").unwrap();

        // Its source cannot be reached, which changes nothing of what is known.
        for _ in 0..2 {
            let mut run = start("a").unwrap();
            assert_eq!(run.earlier::<String>(), ["seed", "one"]);
            run.suspend(page(9, PageVerdict::Failed));
            let summary = run.finish().unwrap();
            assert!(summary.continued && summary.counts.failed == 1 && summary.counts.added == 1);
        }

        let mut run = start("a").unwrap();
        assert_eq!(run.earlier::<String>(), ["seed", "one"]);
        run.end(page(2, PageVerdict::Unchanged), "two").unwrap();
        run.store_state(&[1, 2]).unwrap();
        let summary = run.finish().unwrap();
        assert!(summary.continued && !summary.truncated && !journal.exists());
        assert_eq!((summary.counts.added, summary.counts.unchanged, summary.pages.len()), (1, 1, 1));
        let report = fs::read_to_string(&summary.report_file).unwrap();
        let pages: Vec<PageResult> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(pages, [page(1, PageVerdict::Added), page(2, PageVerdict::Unchanged)]);

        let mut run = start("a").unwrap();
        assert_eq!(run.stored_state::<Vec<u32>>(), [1, 2]);
        fs::write(folder.path().join("reports/run.json"), "[1,").unwrap();
        assert!(run.stored_state::<Vec<u32>>().is_empty());
        assert!(run.earlier::<String>().is_empty() && run.pages().is_empty());
        run.end(page(3, PageVerdict::Failed), "three").unwrap();
        drop(run);
        let mut other = start("b").unwrap();
        assert!(other.earlier::<String>().is_empty());
        other.end(page(4, PageVerdict::Added), "four").unwrap();
        drop(other);
        let mut nothing = start("c").unwrap();
        nothing.suspend(page(5, PageVerdict::Failed));
        nothing.finish().unwrap();
        assert!(!journal.exists());
        let mut over = Run::start_over(&catalog, "run", false).unwrap();
        assert!(over.earlier::<String>().is_empty());
        assert_eq!(over.finish().unwrap().total, 0);
    }

    #[cfg(unix)]
    #[test]
    fn links_in_the_place_of_reports_are_not_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (outside, reports) = (folder.path().join("outside"), folder.path().join("kb/reports"));
        fs::create_dir_all(&reports).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("precious"), "text").unwrap();
        let catalog = Catalog::at(folder.path().join("kb/catalog.json")).unwrap();
        let start = || Run::start(&catalog, "run", "a", false);
        for link in ["run.part", "run.json", "run.jsonl"] {
            symlink(outside.join("precious"), reports.join(link)).unwrap();
            let refused = start().and_then(|run| {
                assert_eq!(run.stored_state::<String>(), "");
                run.store_state(&"x")?;
                run.finish()
            });
            assert!(refused.unwrap_err().is(REPORT_NOT_WRITABLE), "{link}");
            fs::remove_file(reports.join(link)).unwrap();
        }
        assert_eq!(fs::read_to_string(outside.join("precious")).unwrap(), "text");
        fs::remove_dir_all(&reports).unwrap();
        symlink(&outside, &reports).unwrap();
        let error = start().unwrap_err();
        assert!(error.is(REPORT_NOT_WRITABLE) && error.message().contains("symbolic link"), "{error}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    }

    #[test]
    fn an_answer_holds_what_fits_and_the_report_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("catalog.json")).unwrap();
        let mut run = Run::start(&catalog, "run", "a", false).unwrap();
        for number in 0..1000 {
            run.end(page(number, PageVerdict::Refused), ()).unwrap();
        }
        let summary = run.finish().unwrap();
        assert!(summary.truncated && summary.total == 1000 && summary.counts.refused == 1000);
        assert!(json::cost(&summary, Charset::Utf8) < ragmaker_tool::OUTPUT_LIMIT && summary.pages.len() > 100);
        assert_eq!(fs::read_to_string(&summary.report_file).unwrap().lines().count(), 1000);
    }
}
