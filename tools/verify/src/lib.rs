//! `ragmaker-verify`: checks a knowledge base and returns findings, each with advice. With an answer, it checks the
//! answer's citations instead.
//!
//! It reads the catalog and all its documents, and changes nothing.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_audit::{Audit, Finding, FindingKind, audit};
use ragmaker_catalog::{Access, Catalog};
use ragmaker_citation::{
    ANSWER_NOT_READABLE, CITATION_FAILED, ClaimReport, Claims, Counts, claims, read_answer, report,
};
use ragmaker_tool::{
    Annotations, Budget, Code, Error, Invocation, Isolation, JsonSchema, Limit, Next, OFFSET_BEYOND_END, Offset, Tool,
    ToolProfile, counted, host,
};
use serde::Serialize;

/// Something is wrong with the knowledge base.
pub const VERIFICATION_FAILED: Code = Code::new(
    "VERIFICATION_FAILED",
    "Follow the remedies in details.findings; if details.next is not null, it lists the rest. Then verify again.",
);

/// Check a knowledge base: the catalog, every document's file, front matter and text, duplicates, unlisted
/// files, pages saved by mistake, missing titles. Run it after gathering. Returns advice, or fails with
/// findings and what to do about each.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// folder of the knowledge base
    #[argh(option)]
    pub kb_root: Option<PathBuf>,
    /// catalog file, instead of --kb-root
    #[argh(option)]
    pub catalog_path: Option<PathBuf>,
    /// file with an answer, whose citations are checked instead; - is standard input
    #[argh(option)]
    pub answer: Option<PathBuf>,
    /// number of findings to skip (from `next`)
    #[argh(option, default = "Offset::new(0)")]
    pub offset: Offset,
    /// maximum number of findings (default: as many as fit)
    #[argh(option)]
    pub limit: Option<Limit>,
}

/// A knowledge base without findings, or an answer whose claims are all correct.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The catalog's absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog_file: Option<String>,
    /// Number of documents, each of which was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<usize>,
    /// Advice about possible problems: documents whose extraction has a low confidence or that have only headings, and what
    /// has no summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<Vec<Finding>>,
    /// With --answer: its claims, as `cite` returns them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<Vec<ClaimReport>>,
    /// The number of claims with each verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// The number of citations without a quotation before them, which cannot be checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unquoted: Option<usize>,
    /// The number of all pieces of advice, or of all claims.
    pub total: usize,
    /// Whether some remain after the returned ones.
    pub truncated: bool,
    /// The arguments for the next page; null on the last page.
    pub next: Option<Next>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Gather];
    const OPERANDS: &'static [&'static str] = &["--kb-root"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[VERIFICATION_FAILED, CITATION_FAILED, ANSWER_NOT_READABLE, OFFSET_BEYOND_END],
        ragmaker_catalog::READ_ERRORS,
        ragmaker_files::PATH_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        if let Some(answer) = &self.answer {
            return self.citations(answer, invocation);
        }
        let catalog = self.catalog(invocation)?;
        let contents = catalog.read()?;
        let Audit { mut findings, mut advice } = audit(&catalog, &contents);
        for finding in findings.iter_mut().chain(&mut advice) {
            finding.remedy = invocation.caller.advice(&finding.remedy, &|_| false);
        }
        let documents = contents.documents.len();
        if !findings.is_empty() {
            return Err(failed(findings, documents, &catalog, &self));
        }
        let answer = Answer {
            catalog_file: Some(catalog.file().to_string_lossy().into_owned()),
            documents: Some(documents),
            advice: Some(vec![]),
            claims: None,
            counts: None,
            unquoted: None,
            total: advice.len(),
            truncated: false,
            next: Some(Next::WIDEST),
        };
        let page = Budget::for_frame(&answer).page(advice, self.offset, self.limit)?;
        Ok(Answer { advice: Some(page.items), truncated: page.next.is_some(), next: page.next, ..answer })
    }
}

impl Args {
    fn catalog(&self, invocation: &Invocation) -> Result<Catalog, Error> {
        Catalog::locate(self.kb_root.as_deref(), self.catalog_path.as_deref(), Access::Read, invocation)
    }

    /// The citations of the answer in the file `answer`, checked.
    fn citations(&self, answer: &Path, invocation: &Invocation) -> Result<Answer, Error> {
        let Claims { claims, unquoted } = claims(&read_answer(answer, invocation)?);
        let catalogs = if self.kb_root.is_some() || self.catalog_path.is_some() {
            vec![self.catalog(invocation)?]
        } else {
            Catalog::all(&[], invocation)?
        };
        let report = report(ragmaker_citation::check(&catalogs, claims)?, unquoted, self.offset, self.limit)?;
        Ok(Answer {
            catalog_file: None,
            documents: None,
            advice: None,
            claims: Some(report.claims),
            counts: Some(report.counts),
            unquoted: Some(report.unquoted),
            total: report.total,
            truncated: report.truncated,
            next: report.next,
        })
    }
}

/// The error with the page of `findings` that starts at `offset`.
fn failed(findings: Vec<Finding>, documents: usize, catalog: &Catalog, args: &Args) -> Error {
    let mut counts: BTreeMap<FindingKind, usize> = BTreeMap::new();
    for finding in &findings {
        *counts.entry(finding.kind).or_default() += 1;
    }
    let error = VERIFICATION_FAILED
        .error(format!("the knowledge base has {}", counted(findings.len(), "problem")))
        .detail("catalog_file", catalog.file().to_string_lossy())
        .detail("documents", documents)
        .detail("total", findings.len())
        .detail("counts", serde_json::to_value(counts).unwrap_or_default());
    let paged = |truncated: bool, next: Option<Next>, findings: &[Finding]| {
        error
            .clone()
            .detail("truncated", truncated)
            .detail("next", serde_json::to_value(next).unwrap_or_default())
            .detail("findings", serde_json::to_value(findings).unwrap_or_default())
    };
    match Budget::for_frame(&paged(false, Some(Next::WIDEST), &[])).page(findings, args.offset, args.limit) {
        Ok(page) => paged(page.next.is_some(), page.next, &page.items),
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn findings_are_paged_and_counted_as_a_whole() {
        let root = tempfile::tempdir().unwrap();
        // Each entry lacks its file.
        let listed: Vec<_> = (0..500).map(|n| json!({"url": format!("u:{n}"), "path": format!("{n}.md")})).collect();
        std::fs::write(root.path().join("catalog.json"), json!({"documents": listed}).to_string()).unwrap();
        let kb_root = root.path().to_str().unwrap();
        let (mut offset, mut seen) = (0, 0);
        loop {
            let at = offset.to_string();
            let args = Args::from_args(&["verify"], &["--kb-root", kb_root, "--offset", &at]).unwrap();
            let error = args.run(&Invocation::default()).err().unwrap();
            let details = error.details();
            assert!(error.is(VERIFICATION_FAILED) && details["documents"] == 500, "{error:?}");
            let counts = details["counts"].as_object().unwrap().values().filter_map(serde_json::Value::as_u64);
            assert_eq!(Some(counts.sum()), details["total"].as_u64());
            seen += details["findings"].as_array().unwrap().len();
            assert_eq!(details["truncated"] == true, details["next"].is_object());
            let Some(next) = details["next"]["offset"].as_u64() else {
                assert_eq!(details["total"], seen);
                break;
            };
            assert!(next > offset, "the next page is another one");
            offset = next;
        }
        assert!(offset > 0, "there was more than one page");
        let beyond = Args::from_args(&["verify"], &["--kb-root", kb_root, "--offset", "100000"]).unwrap();
        assert!(beyond.run(&Invocation::default()).err().unwrap().is(OFFSET_BEYOND_END));
    }
}
