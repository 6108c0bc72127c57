//! Ranked search compared with qmd's `search`, the BM25 part of another search over Markdown for agents: quality, time
//! of a process, first index, update after a change, and size, on the same documents and questions in one run.
//!
//! A set is a file of JSON lines, gzip or plain: `{"id", "title", "text"}` for each document and `{"query", "relevant":
//! {ID: GRADE}}` for each question; other lines are ignored.

use std::{
    collections::{HashMap, HashSet},
    env, fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};

use super::{
    harness::{median, percentile, verdict},
    release_build,
};
use crate::{
    node::{node, npm},
    process::{quiet, root, ticking},
};

/// The npm packages for the comparison, with a runtime that needs no compiler because its `SQLite` is built in.
const QMD: [&str; 2] = ["@tobilu/qmd@2.8.3", "bun@1"];
/// The number of requested hits.
const HITS: usize = 100;
/// Documents that are changed, one after another.
const CHANGES: usize = 5;
/// The time for which a check of all documents is valid if there are thousands.
const HOLDS: Duration = Duration::from_millis(5_100);

/// The maximum number of milliseconds that 95 of 100 processes take, at up to 10,000 documents and above.
const TIME: [f64; 2] = [15.0, 40.0];
/// The least megabytes of text a second.
const BUILD: f64 = 8.0;
/// The maximum number of milliseconds of a search after one document changed.
const UPDATE: f64 = 50.0;
/// The maximum size of an index, as a part of the text.
const SIZE: f64 = 0.5;

pub(super) fn run(sets: &[PathBuf], every: usize, copies: usize) -> anyhow::Result<()> {
    let tools = release_build(&["search-knowledge-base"])?;
    let folder = root().join("target/bench/search");
    fs::create_dir_all(&folder)?;
    let qmd = Qmd::installed(&folder)?;
    for set in self::sets(sets)? {
        let tool = Tool { program: tools.join("ragmaker-search-knowledge-base") };
        one(&tool, &qmd, &set, &folder.join(&set.name), every.max(1), copies.max(1))?;
    }
    Ok(())
}

/// Those in `files`, or that of the tests' site.
pub(super) fn sets(files: &[PathBuf]) -> anyhow::Result<Vec<SearchSet>> {
    if files.is_empty() {
        return Ok(vec![documentation(&release_build(&["html-to-markdown"])?.join("ragmaker-html-to-markdown"))?]);
    }
    files.iter().map(|file| SearchSet::read(file)).collect()
}

pub(super) struct Document {
    id: String,
    title: String,
    text: String,
}

pub(super) struct Question {
    pub(super) text: String,
    /// Grades of the documents that answer it.
    relevant: HashMap<String, u32>,
}

pub(super) struct SearchSet {
    pub(super) name: String,
    pub(super) documents: Vec<Document>,
    pub(super) questions: Vec<Question>,
}

impl SearchSet {
    fn read(file: &Path) -> anyhow::Result<Self> {
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut text = String::new();
        if bytes.starts_with(&[0x1f, 0x8b]) {
            MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text)?;
        } else {
            text = String::from_utf8(bytes)?;
        }
        let name = file.file_name().and_then(|name| name.to_str()).and_then(|name| name.split('.').next());
        let mut set = Self { name: name.unwrap_or("set").to_owned(), documents: vec![], questions: vec![] };
        for line in text.lines() {
            let line: Value = serde_json::from_str(line)?;
            let field = |name: &str| line[name].as_str().map(ToOwned::to_owned);
            if let (Some(id), Some(text)) = (field("id"), field("text")) {
                set.documents.push(Document { id, title: field("title").unwrap_or_default(), text });
            } else if let (Some(text), Some(relevant)) = (field("query"), line["relevant"].as_object()) {
                let grade = |(id, grade): (&String, &Value)| (id.clone(), grade.as_u64().unwrap_or(1) as u32);
                set.questions.push(Question { text, relevant: relevant.iter().map(grade).collect() });
            }
        }
        ensure!(
            !set.documents.is_empty() && !set.questions.is_empty(),
            "{} is not a set of documents and questions",
            file.display()
        );
        Ok(set)
    }
}

/// The pages of the tests' site, and the questions about them of the search's own test.
fn documentation(converter: &Path) -> anyhow::Result<SearchSet> {
    let mut set = SearchSet { name: "documentation".to_owned(), documents: vec![], questions: vec![] };
    let mut pages: Vec<PathBuf> =
        fs::read_dir(root().join("tests/site/wiki"))?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    pages.retain(|page| {
        page.extension().is_some_and(|end| end == "html") && page.file_stem().is_some_and(|name| name != "layout")
    });
    pages.sort();
    for page in pages {
        let output = Command::new(converter).args(["--whole", "--raw", "--path"]).arg(&page).output()?;
        ensure!(output.status.success(), "{} was not converted", page.display());
        let id = page.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        set.documents.push(Document { id, title: String::new(), text: String::from_utf8(output.stdout)? });
    }
    let questions = fs::read_to_string(root().join("tools/search-knowledge-base/tests/questions.tsv"))?;
    for (text, wanted) in questions.lines().filter_map(|line| line.split_once('\t')) {
        let page = |wanted: &str| (wanted.split('#').next().unwrap_or_default().to_owned(), 1);
        set.questions.push(Question { text: text.to_owned(), relevant: wanted.split(' ').map(page).collect() });
    }
    Ok(set)
}

/// Documents as files, and the catalog of a knowledge base.
pub(super) fn write(set: &SearchSet, folder: &Path, copies: usize) -> anyhow::Result<u64> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder.join("cache/documents"))?;
    let (mut entries, mut bytes) = (vec![], 0);
    for copy in 0..copies {
        for Document { id, title, text } in &set.documents {
            let name = if copy == 0 { format!("{id}.md") } else { format!("{id}-{copy}.md") };
            let heading = if title.is_empty() { String::new() } else { format!("# {title}\n\n") };
            let url = format!("https://example.org/{id}-{copy}");
            let front = format!("---\nsource_url: {}\ntitle: {}\n---\n\n", json!(url), json!(title));
            fs::write(folder.join("cache/documents").join(&name), format!("{front}{heading}{text}\n"))?;
            entries.push(json!({"url": url, "title": title, "path": format!("documents/{name}")}));
            bytes += text.len() as u64;
        }
    }
    fs::write(folder.join("cache/catalog.json"), json!({"title": set.name, "documents": entries}).to_string())?;
    Ok(bytes)
}

/// A search program.
trait Searches {
    fn name(&self) -> &'static str;
    /// A search of the set in `folder`.
    fn search(&self, folder: &Path, query: &str) -> Command;
    /// The identifiers of the documents of its answer, best first.
    fn found(&self, answer: &[u8]) -> Vec<String>;
    /// Makes an index, or brings it up to date.
    fn index(&self, folder: &Path) -> anyhow::Result<()>;
    /// The size of the index in bytes.
    fn size(&self, folder: &Path) -> u64;
}

struct Tool {
    program: PathBuf,
}

impl Searches for Tool {
    fn name(&self) -> &'static str {
        "ragmaker-search-knowledge-base"
    }

    fn search(&self, folder: &Path, query: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--limit", &HITS.to_string(), &format!("--query={query}"), "--kb-root"]).arg(folder);
        command.env("RAGMAKER_PROJECT_ROOT", folder);
        command
    }

    fn found(&self, answer: &[u8]) -> Vec<String> {
        let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
        let hits = answer["hits"].as_array().cloned().unwrap_or_default();
        hits.iter().filter_map(|hit| hit["path"].as_str().map(id)).collect()
    }

    fn index(&self, folder: &Path) -> anyhow::Result<()> {
        quiet("indexing", &mut self.search(folder, "a"))
    }

    fn size(&self, folder: &Path) -> u64 {
        let files = fs::read_dir(folder.join("cache/.search")).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
    }
}

struct Qmd {
    bun: PathBuf,
    script: PathBuf,
    home: PathBuf,
}

impl Qmd {
    /// From npm, about 1 GB with what it brings for models, which `search` does not use.
    fn installed(folder: &Path) -> anyhow::Result<Self> {
        let script = folder.join("node_modules/@tobilu/qmd/dist/cli/qmd.js");
        let bun = folder.join("node_modules/.bin/bun");
        if !script.exists() || !bun.exists() {
            let mut install = npm()?;
            install.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]).arg(folder).args(QMD);
            quiet("installing qmd from npm", &mut install)?;
            let mut finish = node()?;
            quiet("finishing bun", finish.arg("install.js").current_dir(folder.join("node_modules/bun")))?;
        }
        Ok(Self { bun, script, home: folder.join("qmd-home") })
    }

    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.bun);
        let home = self.home.join(folder.file_name().unwrap_or_default());
        command.arg(&self.script).current_dir(folder);
        for name in ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "QMD_CONFIG_DIR"] {
            command.env(name, &home);
        }
        command.env("PATH", env::join_paths([self.bun.parent().unwrap_or(folder)]).unwrap_or_default());
        command
    }
}

impl Searches for Qmd {
    fn name(&self) -> &'static str {
        "qmd search"
    }

    fn search(&self, folder: &Path, query: &str) -> Command {
        let mut command = self.command(folder);
        command.args(["search", "--format", "json", "-n", &HITS.to_string(), query]);
        command
    }

    fn found(&self, answer: &[u8]) -> Vec<String> {
        let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
        let hits = answer.as_array().cloned().unwrap_or_default();
        hits.iter().filter_map(|hit| hit["file"].as_str().map(id)).collect()
    }

    fn index(&self, folder: &Path) -> anyhow::Result<()> {
        let home = self.home.join(folder.file_name().unwrap_or_default());
        if home.join("qmd/index.sqlite").exists() {
            return quiet("updating qmd's index", self.command(folder).arg("update"));
        }
        fs::create_dir_all(home)?;
        let documents = folder.join("cache/documents");
        let mut add = self.command(folder);
        quiet("indexing with qmd", add.args(["collection", "add"]).arg(documents).args(["--name", "set"]))
    }

    fn size(&self, folder: &Path) -> u64 {
        let home = self.home.join(folder.file_name().unwrap_or_default());
        let files = fs::read_dir(home.join("qmd")).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
    }
}

fn id(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md").to_owned()
}

/// The figures of one search program on a set.
#[derive(Default)]
struct Figures {
    ndcg: Vec<f64>,
    recall: Vec<f64>,
    took: Vec<f64>,
    updates: Vec<f64>,
    built: f64,
    size: u64,
}

fn one(tool: &Tool, qmd: &Qmd, set: &SearchSet, folder: &Path, every: usize, copies: usize) -> anyhow::Result<()> {
    let bytes = write(set, folder, copies)?;
    let _ = fs::remove_dir_all(qmd.home.join(folder.file_name().unwrap_or_default()));
    let documents = set.documents.len() * copies;
    let searches: [&dyn Searches; 2] = [tool, qmd];
    let mut figures = [Figures::default(), Figures::default()];
    for (search, figures) in searches.iter().zip(&mut figures) {
        let started = Instant::now();
        search.index(folder)?;
        figures.built = started.elapsed().as_secs_f64();
        figures.size = search.size(folder);
    }
    ticking(&format!("{}: searching {documents} documents", set.name), || {
        for (number, question) in set.questions.iter().step_by(every).enumerate() {
            // In turns, so that what disturbs the machine disturbs both.
            for at in [number % 2, 1 - number % 2] {
                asked(searches[at], folder, question, &mut figures[at])?;
            }
        }
        anyhow::Ok(())
    })?;
    for (search, figures) in searches.iter().zip(&mut figures) {
        for document in set.documents.iter().take(CHANGES) {
            let file = folder.join("cache/documents").join(format!("{}.md", document.id));
            fs::write(&file, format!("{}One more line.\n", fs::read_to_string(&file)?))?;
            if documents > 2_000 {
                std::thread::sleep(HOLDS);
            }
            let started = Instant::now();
            search.index(folder)?;
            figures.updates.push(started.elapsed().as_secs_f64() * 1e3);
        }
    }
    table(set, documents, bytes, &searches, &figures);
    Ok(())
}

fn asked(search: &dyn Searches, folder: &Path, question: &Question, figures: &mut Figures) -> anyhow::Result<()> {
    let mut command = search.search(folder, &question.text);
    let started = Instant::now();
    let output = command.stdin(Stdio::null()).output()?;
    figures.took.push(started.elapsed().as_secs_f64() * 1e3);
    let (ndcg, recall) = scores(search.found(&output.stdout), &question.relevant);
    figures.ndcg.push(ndcg);
    figures.recall.push(recall);
    Ok(())
}

/// nDCG@10 and recall of the documents that were `found`, best first.
fn scores(mut found: Vec<String>, relevant: &HashMap<String, u32>) -> (f64, f64) {
    let mut seen = HashSet::new();
    found.retain(|id| seen.insert(id.clone()));
    let discount = |at: usize| 1.0 / (at as f64 + 2.0).log2();
    let gain = |grade: u32| f64::from(grade).exp2() - 1.0;
    let of = |id: &String| relevant.get(id).map_or(0.0, |grade| gain(*grade));
    let own: f64 = found.iter().take(10).enumerate().map(|(at, id)| of(id) * discount(at)).sum();
    let mut grades: Vec<u32> = relevant.values().copied().collect();
    grades.sort_unstable_by_key(|grade| std::cmp::Reverse(*grade));
    let best: f64 = grades.iter().take(10).enumerate().map(|(at, grade)| gain(*grade) * discount(at)).sum();
    let held = found.iter().take(HITS).filter(|id| relevant.contains_key(*id)).count();
    (own / best, held as f64 / relevant.len() as f64)
}

fn table(set: &SearchSet, documents: usize, bytes: u64, searches: &[&dyn Searches; 2], figures: &[Figures; 2]) {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let questions = figures[0].ndcg.len();
    let megabytes = bytes as f64 / 1e6;
    println!(
        "\n| {}: {documents} documents, {megabytes:.1} MB, {questions} questions | nDCG@10 | Recall@100 | median ms | p95 ms | first index, MB/s | update, ms | size, of the text |\n|---|---:|---:|---:|---:|---:|---:|---:|",
        set.name
    );
    for (search, one) in searches.iter().zip(figures) {
        println!(
            "| {} | {:.3} | {:.3} | {:.1} | {:.1} | {:.1} | {:.0} | {:.2} |",
            search.name(),
            mean(&one.ndcg),
            mean(&one.recall),
            median(one.took.iter().copied()),
            percentile(&one.took, 95),
            megabytes / one.built,
            median(one.updates.iter().copied()),
            one.size as f64 / bytes as f64,
        );
    }
    let [own, other] = figures;
    let time = TIME[usize::from(documents > 20_000)];
    let goals = [
        ("nDCG@10 above qmd's", mean(&own.ndcg) > mean(&other.ndcg)),
        ("faster per query", median(own.took.iter().copied()) < median(other.took.iter().copied())),
        ("p95", percentile(&own.took, 95) <= time),
        ("first index", megabytes / own.built >= BUILD || megabytes < 1.0),
        ("update", median(own.updates.iter().copied()) <= UPDATE),
        ("size", own.size as f64 / bytes as f64 <= SIZE),
    ];
    let goals: Vec<String> = goals.iter().map(|(name, met)| format!("{name}: {}", verdict(*met))).collect();
    println!("\n{}.\n", goals.join("; "));
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    /// nDCG and recall in thousandths.
    fn scored(found: &[&str], relevant: &[(&str, u32)]) -> (i64, i64) {
        let relevant = relevant.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect();
        let (ndcg, recall) = scores(found.iter().map(|id| (*id).to_owned()).collect(), &relevant);
        ((ndcg * 1e3).round() as i64, (recall * 1e3).round() as i64)
    }

    #[test]
    fn a_score_depends_on_rank_and_grade() {
        let relevant = [("a", 2), ("b", 1)];
        assert_eq!(scored(&["a", "b"], &relevant), (1000, 1000));
        // (1 + 3 / log2 3) / (3 + 1 / log2 3)
        assert_eq!(scored(&["b", "a"], &relevant), (797, 1000));
        // 3 / log2 3 / (3 + 1 / log2 3)
        assert_eq!(scored(&["x", "a"], &relevant), (521, 500));
        assert_eq!(scored(&[], &relevant), (0, 0));
        // A document that is found twice counts at its first place, and takes none from the next.
        assert_eq!(scored(&["a", "a", "b"], &relevant), (1000, 1000));
    }

    #[test]
    fn only_the_first_ten_count_for_the_rank() {
        let others: Vec<String> = (0..10).map(|number| format!("x{number}")).collect();
        let found: Vec<&str> = others.iter().map(String::as_str).chain(["a"]).collect();
        assert_eq!(scored(&found, &[("a", 1)]), (0, 1000));
        // 1 / log2 11
        assert_eq!(scored(&found[1..], &[("a", 1)]), (289, 1000));
    }

    #[test]
    fn a_set_is_read_with_or_without_compression() {
        let folder = tempfile::tempdir().unwrap();
        let lines = [
            json!({"id": "a", "title": "A", "text": "one"}),
            json!({"id": "b", "text": "two"}),
            json!({"query": "q", "relevant": {"a": 2, "b": "yes"}}),
            json!({"note": "another line"}),
        ];
        let text = lines.each_ref().map(|line| format!("{line}\n")).concat();
        let plain = folder.path().join("set.v1.jsonl");
        fs::write(&plain, &text).unwrap();
        // Some programs write a file of several members.
        let (first, last) = text.split_at(20);
        let member = |part: &str| {
            let mut encoder = GzEncoder::new(vec![], Compression::fast());
            encoder.write_all(part.as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        let compressed = folder.path().join("set.jsonl.gz");
        fs::write(&compressed, [member(first), member(last)].concat()).unwrap();
        for file in [plain, compressed] {
            let set = SearchSet::read(&file).unwrap();
            assert_eq!(set.name, "set");
            let documents: Vec<_> =
                set.documents.iter().map(|one| (one.id.as_str(), one.title.as_str(), one.text.as_str())).collect();
            assert_eq!(documents, [("a", "A", "one"), ("b", "", "two")]);
            let [question] = set.questions.as_slice() else { panic!("{} questions", set.questions.len()) };
            assert_eq!((question.text.as_str(), question.relevant["a"], question.relevant["b"]), ("q", 2, 1));
        }
        fs::write(folder.path().join("half"), lines[0].to_string()).unwrap();
        assert!(SearchSet::read(&folder.path().join("half")).is_err());
    }

    #[test]
    fn copies_are_documents_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let document = Document { id: "a".to_owned(), title: "A \"1\"".to_owned(), text: "text".to_owned() };
        let set = SearchSet { name: "set".to_owned(), documents: vec![document], questions: vec![] };
        fs::create_dir_all(folder.path().join("cache/documents/of the last run")).unwrap();
        assert_eq!(write(&set, folder.path(), 2).unwrap(), 8);
        let catalog: Value =
            serde_json::from_slice(&fs::read(folder.path().join("cache/catalog.json")).unwrap()).unwrap();
        let paths: Vec<_> = catalog["documents"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
        assert_eq!(paths, ["documents/a.md", "documents/a-1.md"]);
        assert_ne!(catalog["documents"][0]["url"], catalog["documents"][1]["url"]);
        let files = fs::read_dir(folder.path().join("cache/documents")).unwrap();
        assert_eq!(files.count(), 2);
        let text = fs::read_to_string(folder.path().join("cache/documents/a-1.md")).unwrap();
        assert!(text.contains("title: \"A \\\"1\\\"\"\n---\n\n# A \"1\"\n\ntext\n"), "{text}");
    }

    #[test]
    fn both_programs_name_documents_by_their_file() {
        let tool = Tool { program: PathBuf::new() };
        let answer = json!({"hits": [{"path": "/kb/cache/documents/a.b.md"}, {"heading": "x"}, {"path": "c.md"}]});
        assert_eq!(tool.found(answer.to_string().as_bytes()), ["a.b", "c"]);
        let qmd = Qmd { bun: PathBuf::new(), script: PathBuf::new(), home: PathBuf::new() };
        let answer = json!([{"file": "qmd://set/a.b.md", "score": 1}, {"file": "c.md"}]);
        assert_eq!(qmd.found(answer.to_string().as_bytes()), ["a.b", "c"]);
        // Without hits, the programs print something else.
        assert!(tool.found(br#"{"error_code": "NO_HITS"}"#).is_empty() && qmd.found(b"No results found.").is_empty());
    }
}
