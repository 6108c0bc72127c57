//! `ragmaker-search-knowledge-base`: returns the parts of documents that answer a question best.

mod embeddings;

use std::{cell::RefCell, error::Error as _, path::PathBuf};

use argh::{ArgsInfo, FromArgs};
use ragmaker_catalog::Catalog;
use ragmaker_files::lossy_text;
use ragmaker_index::{Embedder, Filter, INDEX_NOT_USABLE, QUERY_EMPTY, SearchResult, VectorCoverage};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Bounded, Budget, Code, ContentOrigin, Error, Invocation, Isolation, JsonSchema, Limit,
    Next, OFFSET_BEYOND_END, Offset, Tool, ToolProfile, host,
};
use regex_automata::nfa::thompson::{self, pikevm::PikeVM};
use serde::Serialize;

use embeddings::Endpoint;

/// The default number of hits.
const HITS: usize = 10;
/// The ranking without and with an embeddings endpoint.
const BY_WORDS: &str = "BM25, k1 1.2, b 0.6; title weight 2, heading weight 1";
const BY_BOTH: &str =
    "BM25, k1 1.2, b 0.6; title weight 2, heading weight 1; cosine of embeddings; reciprocal rank fusion, k 10";
/// The longest query, in characters.
const MAX_QUERY: usize = 2_000;
/// The reason why listed documents are not searched.
const OUTSIDE: &str = "their files are outside the folder of the knowledge base; a refresh saves them in it";
/// The memory limit of the regular expression of `--match`, in bytes.
const MAX_EXPRESSION: usize = 1 << 20;

/// Search knowledge bases for a question or words, in any language, best first. Returns verbatim parts of
/// documents with heading, lines, source and citation; coverage near 0 means that they do not answer it.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// question or words; "a phrase" must occur, -word must not
    #[argh(option)]
    pub query: String,
    /// folder of a knowledge base; may be repeated (default: all)
    #[argh(option)]
    pub kb_root: Vec<PathBuf>,
    /// number of hits to skip (from `next`)
    #[argh(option, default = "Offset::new(0)")]
    pub offset: Offset,
    /// maximum number of hits (default: 10, or fewer if they are long)
    #[argh(option)]
    pub limit: Option<Limit>,
    /// regular expression that path, heading or URL must match
    #[argh(option)]
    pub r#match: Option<String>,
    /// earliest fetch date, such as 2026-01-31
    #[argh(option)]
    pub since: Option<String>,
    /// also return the parameters of the ranking
    #[argh(switch)]
    pub explain: bool,
}

/// The hits.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The query.
    pub query: String,
    /// The best parts of documents, best first.
    pub hits: Vec<Hit>,
    /// The number of parts that contain a word of the query or are similar to it.
    pub total: usize,
    /// Whether hits remain after the returned ones.
    pub truncated: bool,
    /// The arguments for the next page; null on the last page.
    pub next: Option<Next>,
    /// The share of the query's terms, from 0 to 1, that the best three hits contain.
    pub coverage: f64,
    /// The figures of the ranking, with --explain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Ranking>,
    /// The difference from the configured ranking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The listed documents that were not searched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// The advice if nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<&'static str>,
}

/// The figures of a ranking.
#[derive(Serialize, JsonSchema)]
pub struct Ranking {
    /// The formula and its parameters.
    pub method: &'static str,
    /// The number of searched knowledge bases.
    pub knowledge_bases: usize,
    /// The number of their documents.
    pub documents: usize,
    /// The number of their parts that have a vector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedded: Option<usize>,
}

/// A part of a document.
#[derive(Serialize, JsonSchema)]
pub struct Hit {
    /// The document's absolute path.
    pub path: String,
    /// The path of headings to the part.
    pub heading: String,
    /// path#slug, relative to the root of the knowledge base.
    pub citation: String,
    /// The BM25 score, or with embeddings the sum of reciprocal ranks; larger is better.
    pub score: f64,
    /// The text of the part, verbatim.
    pub text: String,
    /// The first line of the part, from 1.
    pub start_line: u32,
    /// The last line of the part.
    pub end_line: u32,
    /// The document's title.
    pub title: String,
    /// The knowledge base that lists it.
    pub knowledge_base: KnowledgeBase,
    /// The URL of the source; null if it is not known.
    pub url: Option<String>,
    /// The time at which the source was fetched.
    pub fetched_at: Option<String>,
    /// Whether the document changed after its summary was written.
    pub stale: bool,
}

/// Documents of a knowledge base that were not searched.
#[derive(Serialize, JsonSchema)]
pub struct Skipped {
    /// The absolute path of the knowledge base's folder.
    pub root: String,
    /// Their number.
    pub documents: usize,
    /// The reason.
    pub reason: &'static str,
}

/// A knowledge base.
#[derive(Serialize, JsonSchema)]
pub struct KnowledgeBase {
    /// The title.
    pub title: String,
    /// The absolute path of its folder.
    pub root: String,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const HOST_OPTIONS: &'static [&'static str] = host::RETRIEVING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Files;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Ask];
    const OPERANDS: &'static [&'static str] = &["--query"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[QUERY_EMPTY, INDEX_NOT_USABLE, OFFSET_BEYOND_END],
        ragmaker_catalog::READ_ERRORS,
        ragmaker_files::PATH_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        if self.query.chars().count() > MAX_QUERY {
            return Err(ARGUMENT_ERROR
                .error(format!("--query has more than {MAX_QUERY} characters"))
                .detail("argument", "--query"));
        }
        let expression = self.r#match.as_deref().map(expression).transpose()?;
        let matches = expression.as_ref().map(|machine| {
            let cache = RefCell::new(machine.create_cache());
            move |text: &str| machine.is_match(&mut cache.borrow_mut(), text)
        });
        if let Some(since) = &self.since {
            check_date(since)?;
        }
        let catalogs = Catalog::all(&self.kb_root, invocation)?;
        let limit = self.limit.map_or(HITS, Bounded::index);
        let filter = Filter {
            matches: matches.as_ref().map(|matches| matches as &dyn Fn(&str) -> bool),
            since: self.since.as_deref(),
        };
        let most = self.offset.index().saturating_add(limit);
        let (endpoint, unused) = match Endpoint::configured(invocation) {
            Ok(endpoint) => (endpoint, None),
            Err(why) => (None, Some(format!("ranked by words only: {why}"))),
        };
        let embed = endpoint.as_ref().map(|endpoint| |kind, texts: &[&str]| endpoint.embed(kind, texts));
        let embedder = endpoint.as_ref().zip(embed.as_ref());
        let embedder =
            embedder.map(|(endpoint, embed)| Embedder { name: &endpoint.name, budget: endpoint.budget(), embed });
        let found = ragmaker_index::search(&catalogs, &self.query, &filter, embedder.as_ref(), most)?;
        let SearchResult { hits, total, coverage, documents, outside, nearness } = found;
        let skipped = catalogs.iter().zip(outside).filter(|(_, documents)| *documents > 0);
        let skipped = skipped.filter_map(|(catalog, documents)| {
            Some(Skipped { root: lossy_text(catalog.root()?).0, documents, reason: OUTSIDE })
        });
        let ranking = self.explain.then_some(Ranking {
            method: if nearness.is_some() { BY_BOTH } else { BY_WORDS },
            knowledge_bases: catalogs.len(),
            documents,
            embedded: nearness.as_ref().map(|nearness| nearness.parts),
        });
        let answer = Answer {
            query: self.query,
            hits: vec![],
            total,
            truncated: false,
            next: Some(Next::WIDEST),
            coverage: rounded(coverage),
            ranking,
            warning: unused.or_else(|| warning(nearness.as_ref()?)),
            skipped: skipped.collect(),
            suggestion: (total == 0).then_some(
                "Try other words, the language of the documents, fewer filters (match, since), or no phrases in quotes.",
            ),
        };
        let page =
            Budget::for_frame(&answer).page_of(hits, total, self.offset, self.limit, |hit| Some(shown_hit(hit)))?;
        Ok(Answer { hits: page.items, truncated: page.next.is_some(), next: page.next, ..answer })
    }
}

/// The difference from the configured ranking.
fn warning(nearness: &VectorCoverage) -> Option<String> {
    let VectorCoverage { parts, of, failure } = nearness;
    match failure {
        Some(why) if *parts == 0 => Some(format!("ranked by words only: the embeddings endpoint failed: {why}")),
        Some(why) => Some(format!("only {parts} of {of} parts have a vector: the embeddings endpoint failed: {why}")),
        None if parts < of => Some(format!("only {parts} of {of} parts have a vector; each search adds more")),
        None => None,
    }
}

fn shown_hit(hit: ragmaker_index::Hit) -> Hit {
    let known = |text: String| Some(text).filter(|text| !text.is_empty());
    Hit {
        path: lossy_text(hit.path).0,
        heading: hit.heading,
        citation: hit.citation,
        score: rounded(hit.score),
        text: hit.text,
        start_line: hit.start_line,
        end_line: hit.end_line,
        title: hit.title,
        knowledge_base: KnowledgeBase { title: hit.knowledge_base, root: lossy_text(hit.root).0 },
        url: known(hit.url),
        fetched_at: known(hit.fetched_at),
        stale: hit.stale,
    }
}

/// Rounds to two decimals.
fn rounded(value: f32) -> f64 {
    (f64::from(value) * 100.0).round() / 100.0
}

/// The expression of `--match`; its search time is linear in the text.
fn expression(text: &str) -> Result<PikeVM, Error> {
    let limits = thompson::Config::new().nfa_size_limit(Some(MAX_EXPRESSION));
    PikeVM::builder().thompson(limits).build(text).map_err(|error| {
        // The parser's message has several lines; the last one states the problem.
        let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        ARGUMENT_ERROR
            .error(format!("--match cannot be {text:?}: {reason}"))
            .remedy("Write a regular expression in the syntax of Rust's regex crate.")
            .detail("argument", "--match")
    })
}

/// Checks that `since` is a date, alone or as the start of a time in RFC 3339. Such texts sort in the order of time.
fn check_date(since: &str) -> Result<(), Error> {
    let form = "dddd-dd-ddTdd:dd:ddZ";
    let fits = |(c, form): (char, char)| if form == 'd' { c.is_ascii_digit() } else { c == form };
    let is_date = matches!(since.len(), 4 | 7 | 10 | 20) && since.chars().zip(form.chars()).all(fits);
    if is_date {
        return Ok(());
    }
    Err(ARGUMENT_ERROR
        .error(format!("--since cannot be {since:?}"))
        .remedy("Give a date such as 2026-01-31, or a time such as 2026-01-31T00:00:00Z.")
        .detail("argument", "--since"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_whole_or_the_beginning_of_a_time() {
        for since in ["2026", "2026-01", "2026-01-31", "2026-01-31T00:00:00Z"] {
            assert!(check_date(since).is_ok(), "{since}");
        }
        for since in [
            "",
            "26",
            "2026-1-31",
            "31.01.2026",
            "2026-01-31 00:00:00Z",
            "2026-01-31T00:00",
            "\u{ff12}\u{ff10}26",
            "yesterday",
        ] {
            let error = check_date(since).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--since", "{since}");
        }
    }

    #[test]
    fn an_expression_is_searched_or_named_in_one_line() {
        let matches = |text: &str, within: &str| {
            let machine = expression(text).unwrap();
            machine.is_match(&mut machine.create_cache(), within)
        };
        assert!(
            matches("tide$", "spring tide") && matches("(?i)TIDE", "tide") && matches("\u{6f6e}.", "\u{6f6e}\u{6c50}")
        );
        assert!(!matches("^tide", "spring tide"));
        for text in ["(", "a{1000}{1000}{1000}", "\\"] {
            let error = expression(text).err().unwrap();
            assert!(error.is(ARGUMENT_ERROR) && !error.message().contains('\n'), "{error}");
        }
    }

    #[test]
    fn what_was_not_ranked_by_meaning_is_told() {
        let of = |parts, of, failure: Option<&str>| {
            warning(&VectorCoverage { parts, of, failure: failure.map(str::to_owned) })
        };
        assert_eq!(of(5, 5, None), None);
        assert_eq!(of(3, 5, None).unwrap(), "only 3 of 5 parts have a vector; each search adds more");
        assert!(
            of(0, 5, Some("429")).unwrap().starts_with("ranked by words only")
                && of(0, 5, Some("429")).unwrap().ends_with("429")
        );
        assert!(of(3, 5, Some("429")).unwrap().starts_with("only 3 of 5"));
        assert!((rounded(1.005_1) - 1.01).abs() < 1e-9 && rounded(0.0) == 0.0);
    }
}
