//! `ragmaker-cite`: checks that the cited sections contain the quotations of an answer.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};
use ragmaker_catalog::Catalog;
use ragmaker_citation::{
    ANSWER_NOT_READABLE, CITATION_FAILED, CitationReport, Claim, Claims, check, claims, read_answer, report,
};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Code, ContentOrigin, Error, Invocation, Isolation, JsonSchema, Limit,
    OFFSET_BEYOND_END, Offset, Tool, ToolProfile, host,
};
use serde::Serialize;

/// Check that the cited documents contain the quotations of an answer: "quote" `[PATH#SLUG]`. Call it before you show
/// the answer. Returns each claim as found, elsewhere with the right place, `not_found` or `too_short`; fails if one is
/// not found.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// one quotation, verbatim
    #[argh(option)]
    pub quote: Option<String>,
    /// citation to check, as in a search hit (default: any place)
    #[argh(option)]
    pub citation: Option<String>,
    /// file with an answer whose quotations are each followed by `[PATH#SLUG]`; - is standard input
    #[argh(option)]
    pub answer: Option<PathBuf>,
    /// the answer itself, instead of a file
    #[argh(option)]
    pub text: Option<String>,
    /// folder of a knowledge base; may be repeated (default: all)
    #[argh(option)]
    pub kb_root: Vec<PathBuf>,
    /// number of claims to skip (from `next`)
    #[argh(option, default = "Offset::new(0)")]
    pub offset: Offset,
    /// maximum number of claims (default: as many as fit)
    #[argh(option)]
    pub limit: Option<Limit>,
}

impl Tool for Args {
    type Answer = CitationReport;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Files;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Ask];
    const ERRORS: &'static [&'static [Code]] = &[
        &[CITATION_FAILED, ANSWER_NOT_READABLE, OFFSET_BEYOND_END],
        ragmaker_catalog::READ_ERRORS,
        ragmaker_files::PATH_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<CitationReport, Error> {
        let Claims { claims, unquoted } = self.claims(invocation)?;
        let catalogs = Catalog::all(&self.kb_root, invocation)?;
        report(check(&catalogs, claims)?, unquoted, self.offset, self.limit)
    }
}

impl Args {
    fn claims(&self, invocation: &Invocation) -> Result<Claims, Error> {
        let clash = |reason: &str, argument: &str| {
            ARGUMENT_ERROR
                .error(reason)
                .remedy(
                    "Give one quotation as --quote, with or without --citation, or an answer as --answer or --text.",
                )
                .detail("argument", argument)
        };
        match (&self.quote, &self.answer, &self.text) {
            (Some(quote), None, None) => {
                let claim = Claim { quote: quote.clone(), citation: self.citation.clone() };
                Ok(Claims { claims: vec![claim], unquoted: 0 })
            }
            (None, ..) if self.citation.is_some() => Err(clash("--citation is given without --quote", "--citation")),
            (None, Some(path), None) => read_answer(path, invocation).map(|answer| claims(&answer)),
            (None, None, Some(text)) => Ok(claims(text)),
            (None, None, None) => Err(clash("there is nothing to check", "--quote")),
            _ => Err(clash("--quote, --answer and --text cannot be combined", "--answer")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed(words: &[&str]) -> Result<Claims, Error> {
        Args::from_args(&["cite"], words).unwrap().claims(&Invocation::default())
    }

    #[test]
    fn a_quotation_is_taken_verbatim() {
        let quote = "a \"b\" [x.md#y]\n ";
        let claims = claimed(&["--quote", quote, "--citation", "a.md#b"]).unwrap();
        let claim = Claim { quote: quote.to_owned(), citation: Some("a.md#b".to_owned()) };
        assert_eq!(claims, Claims { claims: vec![claim], unquoted: 0 });
        assert_eq!(claimed(&["--quote", ""]).unwrap().claims, [Claim::default()]);
    }

    #[test]
    fn an_answer_is_read_from_a_file_or_the_text() {
        let text = "\"one\" [a.md#b] and [c.md#d]";
        let file = tempfile(text);
        let of_text = claimed(&["--text", text]).unwrap();
        assert_eq!((of_text.claims.len(), of_text.unquoted), (1, 1));
        assert_eq!(claimed(&["--answer", file.1.to_str().unwrap()]).unwrap(), of_text);
    }

    fn tempfile(text: &str) -> (impl Sized, PathBuf) {
        let (holder, root) = ragmaker_testkit::folder("answer");
        let path = ragmaker_testkit::write(&root, "answer.md", text);
        (holder, path)
    }

    #[test]
    fn contradicting_arguments_are_refused_with_the_one_to_change() {
        for (words, argument) in [
            (&[][..], "--quote"),
            (&["--citation", "a.md#b"], "--citation"),
            (&["--text", "x", "--citation", "a.md#b"], "--citation"),
            (&["--quote", "x", "--text", "x"], "--answer"),
            (&["--text", "x", "--answer", "x"], "--answer"),
        ] {
            let error = claimed(words).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == argument, "{words:?}: {error:?}");
        }
    }
}
