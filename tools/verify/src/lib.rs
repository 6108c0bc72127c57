//! Verifies a knowledge base: reads the catalog and every document of it, changes nothing, and says
//! what is wrong and what to do about it.

mod document;
mod finding;
mod strays;
mod wrong_page;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_catalog::{CATALOG_NOT_FOUND, Catalog, Contents, Listed};
use ragmaker_tool::{Annotations, Code, Error, JsonSchema, OUTPUT_LIMIT, Tool, json};
use serde::Serialize;

pub use finding::{Finding, Kind};

/// Something is wrong with the knowledge base.
pub const VERIFICATION_FAILED: Code = Code::new(
    "VERIFICATION_FAILED",
    "details.findings says for each what to do; verify again afterwards, since a long list is cut.",
);

/// Check a knowledge base as an auditor would: the catalog, every document's file, front matter and
/// text, duplicates, files that are not listed, pages that were saved by mistake, missing titles.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// folder of the knowledge base; its catalog is cache/catalog.json in it
    #[argh(option)]
    pub kb_root: Option<PathBuf>,
    /// catalog file, instead of --kb-root; with neither it is .tmp/cache/catalog.json in the
    /// project
    #[argh(option)]
    pub catalog_path: Option<PathBuf>,
}

/// A knowledge base in which nothing is wrong.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The catalog's absolute path.
    pub catalog_file: String,
    /// Number of documents, each of which was read.
    pub documents: usize,
    /// Documents without a summary, which they need not have.
    pub without_summary: usize,
    /// What is not wrong and could be better: those documents, and what to do.
    pub advice: Vec<Finding>,
    /// Whether the advice is too long to be shown whole and was cut.
    pub truncated: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    const ERRORS: &'static [Code] = &[
        VERIFICATION_FAILED,
        CATALOG_NOT_FOUND,
        ragmaker_catalog::CATALOG_CORRUPT,
        ragmaker_catalog::CATALOG_NOT_READABLE,
        ragmaker_catalog::CATALOG_NOT_WRITABLE,
    ];

    fn run(self) -> Result<Answer, Error> {
        let catalog = Catalog::locate(self.kb_root.as_deref(), self.catalog_path.as_deref())?;
        let contents = catalog.read()?;
        let findings = audit(&catalog, &contents);
        let documents = contents.documents.len();
        if !findings.is_empty() {
            return Err(failed(&findings, documents, &catalog));
        }
        let advice = advice(&contents);
        let shown = shown(&advice);
        Ok(Answer {
            catalog_file: catalog.file().to_string_lossy().into_owned(),
            documents,
            without_summary: advice.len(),
            truncated: shown < advice.len(),
            advice: advice.into_iter().take(shown).collect(),
        })
    }
}

/// What a knowledge base can do without and is better with.
fn advice(contents: &Contents) -> Vec<Finding> {
    let without = contents.documents.iter().filter(|document| document.summary.is_none());
    let finding = |document: &Listed| {
        Finding::new(Kind::DocumentSummaryMissing, "the catalog has no summary for the document")
            .at(document.path.as_deref(), document.url.as_deref())
    };
    without.map(finding).collect()
}

/// Everything that is wrong: with the whole, with each document in the catalog's order, with what is
/// not in the catalog.
fn audit(catalog: &Catalog, contents: &Contents) -> Vec<Finding> {
    let mut findings = vec![];
    if contents.documents.is_empty() {
        findings.push(Finding::new(Kind::NoDocuments, "the catalog lists no document"));
    }
    if contents.header.title.is_none() {
        findings.push(Finding::new(Kind::TitleMissing, "the knowledge base has no title"));
    }
    if contents.header.summary.is_none() {
        findings.push(Finding::new(Kind::SummaryMissing, "the knowledge base has no summary"));
    }
    // It was there a moment ago; whoever took it away is told by the next run.
    let (Some(root), Ok(file)) = (catalog.root(), catalog.file().canonicalize()) else { return findings };
    let folder = file.parent().unwrap_or(&root);
    let mut known = BTreeSet::new();
    let mut first = Seen::default();
    for document in &contents.documents {
        let audited = document::audit(document, folder, &root, &mut findings);
        first.urls.check(
            document.url.as_ref(),
            document,
            Kind::DuplicateUrl,
            "another entry has this url",
            &mut findings,
        );
        let Some(audited) = audited else { continue };
        let shared = "another entry has this file";
        if first.files.check(Some(&audited.file), document, Kind::DuplicatePath, shared, &mut findings) {
            let same = "another document has the same text";
            first.texts.check(Some(&audited.hash), document, Kind::DuplicateContent, same, &mut findings);
        }
        known.insert(audited.file);
    }
    // A file that was found wanting is listed all the same.
    known.extend(
        contents.documents.iter().filter_map(|document| folder.join(document.path.as_ref()?).canonicalize().ok()),
    );
    known.retain(|file| file.starts_with(&root));
    findings.extend(strays::find(folder, &known));
    findings
}

/// The first document for everything that only one may have.
#[derive(Default)]
struct Seen {
    urls: First<String>,
    files: First<PathBuf>,
    texts: First<[u8; 32]>,
}

struct First<K>(BTreeMap<K, String>);

impl<K> Default for First<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Clone> First<K> {
    /// Whether `document` is the first with `key`; another one is a finding.
    fn check(
        &mut self,
        key: Option<&K>,
        document: &Listed,
        kind: Kind,
        message: &str,
        findings: &mut Vec<Finding>,
    ) -> bool {
        let Some(key) = key else { return true };
        let name = || document.path.clone().or(document.url.clone()).unwrap_or_default();
        match self.0.get(key) {
            Some(other) => {
                let finding = Finding::new(kind, format!("{message}: {other}"));
                findings.push(finding.at(document.path.as_deref(), document.url.as_deref()));
                false
            }
            None => self.0.insert(key.clone(), name()).is_none(),
        }
    }
}

/// Characters that are kept for everything but the findings.
const AROUND: usize = 9_000;
/// What an element takes beside itself: its line, its indent, its comma.
const LINE: usize = 7;

/// How many of `findings` an answer takes.
fn shown(findings: &[Finding]) -> usize {
    let charset = json::Charset::from_env();
    let mut budget = OUTPUT_LIMIT - AROUND;
    let fits = |finding: &&Finding| {
        let left = budget.checked_sub(json::cost(finding, charset) + LINE);
        budget = left.unwrap_or_default();
        left.is_some()
    };
    findings.iter().take_while(fits).count()
}

/// The error that tells of `findings`, as many as an answer takes.
fn failed(findings: &[Finding], documents: usize, catalog: &Catalog) -> Error {
    let shown = &findings[..shown(findings)];
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry(finding.kind).or_default() += 1;
    }
    let things = if findings.len() == 1 { "thing is" } else { "things are" };
    VERIFICATION_FAILED
        .error(format!("{} {things} wrong with the knowledge base", findings.len()))
        .detail("catalog_file", catalog.file().to_string_lossy())
        .detail("documents", documents)
        .detail("total", findings.len())
        .detail("truncated", shown.len() < findings.len())
        .detail("counts", serde_json::to_value(counts).unwrap_or_default())
        .detail("findings", serde_json::to_value(shown).unwrap_or_default())
}
