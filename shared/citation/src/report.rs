//! The report of a check, and the error for incorrect claims.

use ragmaker_tool::{Budget, Code, Error, JsonSchema, Limit, Next, Offset};
use serde::Serialize;

use crate::{
    CheckedClaim, ClaimVerdict,
    find::{SHORTEST, SHORTEST_CJK},
};

/// A claim is incorrect.
pub const CITATION_FAILED: Code = Code::new(
    "CITATION_FAILED",
    "See details.claims: for elsewhere, use correct_citation; for not_found, no document has these words; for too_short, quote more of the sentence. Correct or remove these claims, and check again.",
);

/// The checked claims of an answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CitationReport {
    /// The claims, in the order of the answer.
    pub claims: Vec<ClaimReport>,
    /// The number of claims with each verdict.
    pub counts: Counts,
    /// The number of citations without a quotation, which cannot be checked.
    pub unquoted: usize,
    /// The number of claims.
    pub total: usize,
    /// Whether there are more claims than were returned.
    pub truncated: bool,
    /// The arguments that return the rest; null if there is none.
    pub next: Option<Next>,
}

/// A checked claim. Unknown values are null.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClaimReport {
    /// The quotation.
    pub quote: String,
    /// The citation in the answer.
    pub citation: Option<String>,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// The citation of the section that contains the quotation.
    pub correct_citation: Option<String>,
    /// The absolute path of the document that contains the quotation.
    pub path: Option<String>,
    /// The headings above the passage.
    pub heading: Option<String>,
    /// The line number of the start, from 1.
    pub start_line: Option<usize>,
    /// The text of the passage, verbatim.
    pub text: Option<String>,
    /// The URL of the source, with a text fragment for the passage.
    pub url: Option<String>,
    /// The time at which the source was fetched.
    pub fetched_at: Option<String>,
    /// Whether the last refresh found the source changed or gone.
    pub stale: Option<bool>,
}

/// The number of claims with each verdict.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Counts {
    /// In the cited section.
    pub found: usize,
    /// In another section.
    pub elsewhere: usize,
    /// In no document.
    pub not_found: usize,
    /// Too short to check.
    pub too_short: usize,
}

impl From<CheckedClaim> for ClaimReport {
    fn from(CheckedClaim { claim, verdict, place }: CheckedClaim) -> Self {
        let (quote, citation) = (claim.quote, claim.citation);
        let Some(place) = place else {
            return Self {
                quote,
                citation,
                verdict,
                correct_citation: None,
                path: None,
                heading: None,
                start_line: None,
                text: None,
                url: None,
                fetched_at: None,
                stale: None,
            };
        };
        Self {
            quote,
            citation,
            verdict,
            correct_citation: Some(place.citation),
            path: Some(ragmaker_files::lossy_text(place.path).0),
            heading: Some(place.heading),
            start_line: Some(place.start_line),
            text: Some(place.text),
            url: place.url,
            fetched_at: place.fetched_at,
            stale: Some(place.stale),
        }
    }
}

/// The page of the `checked` claims from `offset` on.
///
/// # Errors
///
/// [`CITATION_FAILED`], with the report as details, if a claim is incorrect;
/// [`ragmaker_tool::OFFSET_BEYOND_END`].
pub fn report(
    checked: Vec<CheckedClaim>,
    unquoted: usize,
    offset: Offset,
    limit: Option<Limit>,
) -> Result<CitationReport, Error> {
    let mut counts = Counts::default();
    for one in &checked {
        *match one.verdict {
            ClaimVerdict::Found => &mut counts.found,
            ClaimVerdict::Elsewhere => &mut counts.elsewhere,
            ClaimVerdict::NotFound => &mut counts.not_found,
            ClaimVerdict::TooShort => &mut counts.too_short,
        } += 1;
    }
    let total = checked.len();
    let claims: Vec<ClaimReport> = checked.into_iter().map(ClaimReport::from).collect();
    let frame = CitationReport { claims: vec![], counts, unquoted, total, truncated: false, next: Some(Next::WIDEST) };
    let failed = total - counts.found;
    if failed == 0 {
        let page = Budget::for_frame(&frame).page(claims, offset, limit)?;
        return Ok(CitationReport { claims: page.items, truncated: page.next.is_some(), next: page.next, ..frame });
    }
    let stand = if failed == counts.too_short {
        let least =
            format!("a quotation needs {SHORTEST} characters, or {SHORTEST_CJK} in Chinese, Japanese or Korean");
        match (failed, total) {
            (_, 1) => format!("the quotation is too short to check: {least}"),
            (1, _) => format!("1 of {total} quotations is too short to check: {least}"),
            _ => format!("{failed} of {total} quotations are too short to check: {least}"),
        }
    } else if total == 1 {
        "the quotation was not found where it is cited".into()
    } else {
        format!("{failed} of {total} quotations were not found where they are cited")
    };
    let error = |report: &CitationReport| {
        let mut error = CITATION_FAILED.error(stand.clone());
        if let Ok(serde_json::Value::Object(members)) = serde_json::to_value(report) {
            for (name, value) in members {
                error = error.detail(&name, value);
            }
        }
        error
    };
    let page = Budget::for_frame(&error(&frame)).page(claims, offset, limit)?;
    Err(error(&CitationReport { claims: page.items, truncated: page.next.is_some(), next: page.next, ..frame }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Claim;

    fn checked(verdicts: &[ClaimVerdict]) -> Vec<CheckedClaim> {
        let claim = |verdict: &ClaimVerdict| CheckedClaim {
            claim: Claim { quote: "the water rises twice a day".into(), citation: None },
            verdict: *verdict,
            place: None,
        };
        verdicts.iter().map(claim).collect()
    }

    #[test]
    fn one_incorrect_claim_fails_the_answer() {
        use ClaimVerdict::{Elsewhere, Found, NotFound, TooShort};
        let report_of = |verdicts: &[ClaimVerdict]| report(checked(verdicts), 1, Offset::new(0), None);
        let all = report_of(&[Found, Found]).unwrap();
        assert_eq!((all.total, all.counts.found, all.unquoted, all.truncated), (2, 2, 1, false));
        let error = report_of(&[Found, Elsewhere, NotFound, TooShort]).unwrap_err();
        assert!(error.is(CITATION_FAILED) && error.message().starts_with("3 of 4"), "{error}");
        let expected = serde_json::json!({"found": 1, "elsewhere": 1, "not_found": 1, "too_short": 1});
        assert_eq!(error.details()["counts"], expected);
        assert_eq!(error.details()["claims"][1]["verdict"], "elsewhere");
        assert!(report_of(&[NotFound]).unwrap_err().message().starts_with("the quotation"));
        // What was not looked for is not called missing.
        for (verdicts, message) in [
            (&[TooShort][..], "the quotation is too short to check: a quotation needs 20 characters"),
            (&[Found, TooShort], "1 of 2 quotations is too short to check"),
            (&[TooShort, TooShort], "2 of 2 quotations are too short to check"),
            (&[NotFound, TooShort], "2 of 2 quotations were not found where they are cited"),
        ] {
            assert!(report_of(verdicts).unwrap_err().message().starts_with(message), "{verdicts:?}");
        }
    }

    #[test]
    fn many_claims_are_paged() {
        let many = checked(&[ClaimVerdict::Found; 500]);
        let first = report(many.clone(), 0, Offset::new(0), None).unwrap();
        assert!(first.truncated && first.claims.len() < 500 && first.next.is_some());
        assert_eq!((first.total, first.counts.found), (500, 500), "the counts are those of all");
    }
}
