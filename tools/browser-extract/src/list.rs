//! Many pages in one call: each page has a verdict, and a slow page does not delay the others.
//!
//! Workers take pages from one queue; each worker has a tab. Only this thread saves the results, so the catalog is
//! changed by one thread. Each page is recorded when it is done, so a killed run can be resumed.

use std::{
    collections::{HashMap, HashSet},
    fs,
    io::{self, IsTerminal, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use ragmaker_browser::{RestrictedSession, Target};
use ragmaker_browser_pages::{ConvertedPage, JsonDocument};
use ragmaker_capture::Files;
use ragmaker_catalog::{DocumentSource, Listed};
use ragmaker_files::{InputError, read_standard_input, read_text_file};
use ragmaker_ingest::{Counts, PageResult, PageVerdict, Run, Store, Summary};
use ragmaker_knowledge::{SaveTarget, content_hash, title_of};
use ragmaker_markdown::count_words;
use ragmaker_text::{INPUT_TOO_LARGE, NOT_TEXT};
use ragmaker_tool::{
    ARGUMENT_ERROR, Caller, Error, INTERNAL_ERROR, Invocation,
    json::{Charset, write_line},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    JsonResponses, Saved, json, memory,
    page::Extraction,
    queue::{Queue, Task, WorkItem},
};

/// The maximum size in bytes of a list.
const MAX_BYTES: u64 = 64 << 20;

/// The pause before another attempt to get a browser.
const PAUSE: Duration = Duration::from_millis(500);

/// The result for many pages.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Pages {
    /// The number of pages with each verdict.
    pub counts: Counts,
    /// The pages whose verdict is not `unchanged`, as many as fit.
    pub pages: Vec<PageResult>,
    /// The number of pages whose verdict is not `unchanged`.
    pub total: usize,
    /// Whether the answer lacks some of them; the report has all.
    pub truncated: bool,
    /// The report of all pages, including unchanged ones: one JSON object per line.
    pub report_file: String,
    /// With --json-responses: how many JSON answers of pages were saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_saved: Option<usize>,
    /// Whether an interrupted run was continued.
    pub continued: bool,
    /// The catalog's absolute path.
    pub catalog_file: String,
}

/// The requested pages and options.
pub(crate) struct List<'a> {
    pub(crate) addresses: Vec<String>,
    pub(crate) extraction: Extraction<'a>,
    pub(crate) place: &'a SaveTarget,
    pub(crate) tabs: usize,
    pub(crate) per_host: usize,
    pub(crate) reload: bool,
    /// Whether each page is printed as it ends.
    pub(crate) jsonl: bool,
}

/// The addresses in a file, or in standard input for `-`: one on each line.
pub(crate) fn read(path: &Path, invocation: &Invocation) -> Result<Vec<String>, Error> {
    let received = if path.as_os_str() == "-" {
        if invocation.caller == Caller::Model {
            return Err(ARGUMENT_ERROR
                .error("a call has no standard input")
                .remedy("Give the addresses as urls, or name a file.")
                .detail("argument", "--urls-file"));
        }
        if io::stdin().is_terminal() {
            return Err(ARGUMENT_ERROR
                .error("there are no addresses: standard input is a terminal")
                .remedy("Send the addresses to standard input, one on each line, or name a file.")
                .detail("argument", "--urls-file"));
        }
        read_standard_input(MAX_BYTES)
    } else {
        read_text_file(path, invocation, MAX_BYTES)
    };
    let text = received.map_err(|reason| match reason {
        InputError::TooLarge(limit) => INPUT_TOO_LARGE.error(format!("the list has more than {limit} bytes")),
        InputError::NotUtf8 => NOT_TEXT
            .error("the list of addresses is not UTF-8")
            .remedy("Give a text file with an address on each line."),
        reason => reason.into_error(path),
    })?;
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    Ok(lines.map(without_comment).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// A line without its comment, which begins with `#` at the start of the line or after a space: a `#` within an address
/// begins a fragment.
fn without_comment(line: &str) -> &str {
    let begins = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    line.match_indices('#').find(|(at, _)| begins(*at)).map_or(line, |(at, _)| line[..at].trim_end())
}

/// The shared state of the workers.
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Shared {
    /// A worker that panicked has left nothing half done behind this lock.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes pages until none is left, and sends what each came to.
    fn work(&self, extraction: &Extraction<'_>, invocation: &Invocation, reload: bool, done: &mpsc::SyncSender<Done>) {
        let session = RestrictedSession::new(extraction.session, invocation);
        let mut queue = self.queue();
        loop {
            // Who has to wait for a browser keeps no page from those who have one.
            let mut none = None;
            if let Ok(session) = &session
                && queue.is_ready(Instant::now())
            {
                drop(queue);
                none = session.reserve(extraction.timeout, &|| !self.queue().is_ready(Instant::now())).err();
                queue = self.queue();
                if none.is_some() && queue.is_active() {
                    queue = self.changed.wait_timeout(queue, PAUSE).unwrap_or_else(PoisonError::into_inner).0;
                    continue;
                }
            }
            let now = Instant::now();
            let (task, taken) = match queue.next(now, memory::has_room()) {
                WorkItem::End => break,
                WorkItem::Wait(None) => {
                    queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                WorkItem::Wait(Some(until)) => {
                    let wait = until.saturating_duration_since(now);
                    queue = self.changed.wait_timeout(queue, wait).unwrap_or_else(PoisonError::into_inner).0;
                    continue;
                }
                WorkItem::Refused(task, error) => (task, Err(error)),
                WorkItem::Load(task) => {
                    drop(queue);
                    let target = if reload { Target::Load(&task.url) } else { Target::Show(&task.url) };
                    // A page that no code of ours expects costs nobody else.
                    let taken = catch_unwind(AssertUnwindSafe(|| match (&session, none) {
                        (Ok(session), None) => extraction.take(session, target),
                        (Err(error), _) => Err(error.clone()),
                        (_, Some(error)) => Err(error),
                    }));
                    let panicked = |_| Err(INTERNAL_ERROR.error("the page could not be processed"));
                    let taken = taken.unwrap_or_else(panicked);
                    queue = self.queue();
                    (task, taken)
                }
            };
            let ended = queue.ended(task, taken.as_ref().err(), Instant::now());
            self.changed.notify_all();
            if let Some(task) = ended {
                drop(queue);
                if done.send((task, taken)).is_err() {
                    return;
                }
                queue = self.queue();
            }
        }
        self.changed.notify_all();
    }
}

type Done = (Task, Result<ConvertedPage, Error>);

/// Takes and saves the pages of `list`.
///
/// # Errors
///
/// Where nothing can be saved, or no browser starts; what is wrong with a page is its verdict.
pub(crate) fn run(list: &List<'_>, invocation: &Invocation) -> Result<Pages, Error> {
    let place = list.place;
    let catalog_file = place.catalog.file().to_string_lossy().into_owned();
    let Extraction { session, selector, wait_for, load, expand, declines_consent, json, .. } = list.extraction;
    let (json, folder) = (json.map(|pattern| pattern.as_str()), place.folder.to_string_lossy());
    let looks = (expand.folded, expand.scroll, declines_consent);
    let key = (&list.addresses, session, selector, wait_for, load, looks, list.reload, json, folder);
    let key = content_hash("", &serde_json::to_string(&key).unwrap_or_default());
    let mut output = Output {
        store: Store::open(&place.catalog, place.folder.clone())?,
        run: Run::start(&place.catalog, &format!("browser-extract-{}", &key[..10]), &key, false)?,
        extraction: list.extraction,
        redirected: HashMap::new(),
        catalog_file: &catalog_file,
        jsonl: list.jsonl,
        json_saved: 0,
    };
    output.redirected = output.redirects();
    if list.jsonl && io::stdout().is_terminal() {
        output.run.hide_progress();
    }
    let mut ended = HashSet::new();
    for record in output.run.earlier::<Map<String, Value>>() {
        output.json_saved += saved_earlier(&record);
        output.print(&record);
        ended.insert(record["requested_url"].as_str().unwrap_or_default().to_owned());
    }
    let mut seen = HashSet::new();
    let mut tasks = vec![];
    for requested in &list.addresses {
        let url = ragmaker_address::parse(requested);
        let name = url.as_ref().map_or_else(|_| requested.clone(), ragmaker_address::canonical);
        if !seen.insert(name.clone()) || ended.contains(requested) {
            continue;
        }
        match url {
            Err(error) => output.failed(requested, &error)?,
            Ok(url) => match output.has(&name).filter(|_| !list.reload) {
                Some(known) => output.known(requested, &known)?,
                None => tasks.push(Task::new(requested.clone(), url)),
            },
        }
    }
    if !tasks.is_empty() {
        output.run.set_total(tasks.len());
        let session = RestrictedSession::new(session, invocation)?;
        let _held = session.reserve_local()?;
        let list = &List { tabs: session.max_parallel_pages(list.tabs), addresses: vec![], ..*list };
        load_all(list, tasks, &mut output, invocation)?;
    }
    let Output { mut store, run, json_saved, .. } = output;
    let json_saved = json.map(|_| json_saved);
    store.finish()?;
    // The catalog's path takes its share of the answer.
    let Summary { counts, pages, report_file, total, truncated, continued } = run.finish_with(&catalog_file)?.summary;
    let catalog_file = catalog_file.clone();
    Ok(Pages { counts, pages, total, truncated, report_file, json_saved, continued, catalog_file })
}

fn load_all(list: &List<'_>, tasks: Vec<Task>, output: &mut Output<'_>, invocation: &Invocation) -> Result<(), Error> {
    let queue = Queue::new(tasks, list.tabs, list.per_host);
    let tabs = list.tabs.min(queue.max_parallel_pages());
    let shared = Shared { queue: Mutex::new(queue), changed: Condvar::new() };
    thread::scope(|scope| {
        // As many as there are tabs: what was taken waits in memory until it is saved.
        let (send, receive) = mpsc::sync_channel::<Done>(tabs);
        for _ in 0..tabs {
            let (send, shared) = (send.clone(), &shared);
            scope.spawn(move || shared.work(&list.extraction, invocation, list.reload, &send));
        }
        drop(send);
        let saved = receive.iter().try_for_each(|(task, taken)| match taken {
            Ok(taken) => output.save(&task, taken),
            Err(error) => output.failed(&task.requested, &error),
        });
        shared.queue().stop();
        shared.changed.notify_all();
        saved
    })
}

/// Where the pages go as they end.
struct Output<'a> {
    store: Store<'a>,
    run: Run,
    extraction: Extraction<'a>,
    /// The documents that other addresses are redirected to, by these.
    redirected: HashMap<String, String>,
    catalog_file: &'a str,
    jsonl: bool,
    /// How many JSON answers were saved.
    json_saved: usize,
}

impl Output<'_> {
    /// The redirects that the knowledge base knows of: where from, and the document's address.
    fn redirects(&self) -> HashMap<String, String> {
        let from = |(url, listed): (&str, &Listed)| match &listed.source {
            Some(DocumentSource::Browser { from: Some(from), .. }) => Some((from.clone(), url.to_owned())),
            _ => None,
        };
        self.store.documents().filter_map(from).collect()
    }

    /// The address of the document that the knowledge base has of the page at `url`, if it was taken in the same way.
    fn has(&self, url: &str) -> Option<String> {
        let url = self.redirected.get(url).map_or(url, String::as_str);
        let listed = self.store.known(url)?;
        let is_same_way = listed.source.as_ref().is_none_or(|source| self.extraction.is_way_of(source));
        (is_same_way && self.store.file_of(listed).is_some()).then(|| url.to_owned())
    }

    fn save(&mut self, task: &Task, taken: ConvertedPage) -> Result<(), Error> {
        let ConvertedPage { page, url, document, file, json, .. } = taken;
        let (title, words, confidence) = (title_of(&document, &url), document.words, document.metadata.confidence);
        let stored = self.store.save(document, &url, &self.extraction.source(Some(&task.url), &url))?;
        let (store, session) = (&mut self.store, self.extraction.session);
        let save = |JsonDocument { url, document }| {
            let stored = store.save(document, &url, &json::source(session))?;
            Ok(stored.file.to_string_lossy().into_owned())
        };
        let json_responses = json.map(|answers| JsonResponses::save(answers, save)).transpose()?;
        self.json_saved += json_responses.as_ref().map_or(0, |answers| answers.saved);
        let saved = Saved {
            url: url.clone(),
            title,
            file_path: stored.file.to_string_lossy().into_owned(),
            catalog_updated: true,
            catalog_file: self.catalog_file.to_owned(),
            words,
            confidence,
            ready: page.ready,
            pending: page.pending,
            expanded: page.expanded,
            file,
            consent: page.consent,
            json_responses,
            files: Files::default(),
        };
        let record = record(&task.requested, stored.verdict, serde_json::to_value(&saved).unwrap_or_default());
        self.end(PageResult::stored(url, &stored), record)
    }

    /// Notes a page that the knowledge base has.
    fn known(&mut self, requested: &str, url: &str) -> Result<(), Error> {
        let listed = self.store.known(url).cloned().unwrap_or_default();
        let file = self.store.file_of(&listed).map(|file| file.to_string_lossy().into_owned());
        let mut fields = serde_json::json!({"url": url, "title": listed.title, "file_path": file,
            "catalog_updated": true, "catalog_file": self.catalog_file});
        let text = file.as_deref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        if let Ok(document) = ragmaker_document::parse(&text) {
            fields["words"] = count_words(document.body).into();
            if let Some(confidence) = document.field("confidence").and_then(|text| text.parse::<f64>().ok()) {
                fields["confidence"] = confidence.into();
            }
        }
        let page = PageResult { file_path: file, ..PageResult::new(url, PageVerdict::Unchanged, "the catalog has it") };
        self.end(page, record(requested, PageVerdict::Unchanged, fields))
    }

    fn failed(&mut self, requested: &str, error: &Error) -> Result<(), Error> {
        let mut record = Map::new();
        if let Ok(Value::Object(members)) = serde_json::to_value(error) {
            record.extend(members);
        }
        record.insert("requested_url".into(), requested.into());
        let verdict = if error.is_not_allowed() { PageVerdict::Refused } else { PageVerdict::Failed };
        self.end(PageResult::new(requested, verdict, error.to_string()), record)
    }

    fn end(&mut self, page: PageResult, record: Map<String, Value>) -> Result<(), Error> {
        self.print(&record);
        self.run.end(page, record)
    }

    fn print(&self, record: &Map<String, Value>) {
        if self.jsonl {
            let mut out = vec![];
            // Texts and numbers can be written to memory, and whoever has closed the pipe wants no more of them.
            let _ = write_line(record, Charset::from_env(), &mut out);
            let _ = io::stdout().write_all(&out).and_then(|()| io::stdout().flush());
        }
    }
}

/// How many JSON answers were saved with the page of an earlier line.
fn saved_earlier(record: &Map<String, Value>) -> usize {
    record.get("json_responses").and_then(|answers| answers["saved"].as_u64()).unwrap_or_default() as usize
}

/// The line of a page that is in the knowledge base.
fn record(requested: &str, verdict: PageVerdict, fields: Value) -> Map<String, Value> {
    let mut record = Map::new();
    record.insert("status".into(), "success".into());
    record.insert("requested_url".into(), requested.into());
    record.insert("verdict".into(), serde_json::to_value(verdict).unwrap_or_default());
    if let Value::Object(fields) = fields {
        record.extend(fields);
    }
    record
}

#[cfg(test)]
mod tests {
    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::HostOptions;
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_are_the_lines_that_are_no_remarks() {
        let (_holder, root) = folder("project");
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        let model = Invocation { host, caller: Caller::Model, ..Invocation::default() };
        let text = "\u{feff}https://x.example/a\r\n# a remark\r\n\r\n  https://x.example/\u{6f6e}#b \r\nnot an address";
        write(&root, "urls.txt", text);
        let lines = read(Path::new("urls.txt"), &model).unwrap();
        assert_eq!(lines, ["https://x.example/a", "https://x.example/\u{6f6e}#b", "not an address"]);
        write(&root, "empty.txt", "");
        assert!(read(Path::new("empty.txt"), &model).unwrap().is_empty());
        write(&root, "legacy.txt", b"caf\xe9");
        for (path, code) in [
            ("-", "ARGUMENT_ERROR"),
            ("legacy.txt", "NOT_TEXT"),
            ("none.txt", "FILE_NOT_FOUND"),
            ("/etc/passwd", "PATH_NOT_ALLOWED"),
        ] {
            assert_eq!(read(Path::new(path), &model).unwrap_err().code(), code, "{path}");
        }
    }

    #[test]
    fn a_line_of_a_page_has_its_verdict_and_what_was_saved_counts_once() {
        let line = record(
            "https://x.example/",
            PageVerdict::Unchanged,
            json!({"url": "https://x.example/b", "json_responses": {"saved": 3}}),
        );
        assert_eq!(
            (&line["status"], &line["verdict"], &line["url"]),
            (&"success".into(), &"unchanged".into(), &"https://x.example/b".into())
        );
        assert_eq!(saved_earlier(&line), 3);
        for fields in [json!({}), json!({"json_responses": null}), json!({"json_responses": {"saved": -1}}), json!([])]
        {
            assert_eq!(saved_earlier(&record("x", PageVerdict::Added, fields)), 0);
        }
    }

    #[test]
    fn a_comment_of_a_list_begins_a_line_or_follows_a_space() {
        for (line, address) in [
            ("https://x.example/a # later", "https://x.example/a"),
            ("https://x.example/a#b", "https://x.example/a#b"),
            ("https://x.example/a#b\t#c", "https://x.example/a#b"),
            ("# note", ""),
            ("https://x.example/日本　#語", "https://x.example/日本"),
        ] {
            assert_eq!(without_comment(line), address);
        }
    }
}
