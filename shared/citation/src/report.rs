//! The report of a check, and the error for incorrect claims.

use ragmaker_tool::{Budget, Code, Error, JsonSchema, Limit, Next, Offset};
use serde::Serialize;

use crate::{Checked, Verdict};

/// A claim does not hold.
pub const CITATION_FAILED: Code = Code::new(
    "CITATION_FAILED",
    "details.claims says for each: elsewhere means that correct_citation is its place, not_found that the documents do not say it in these words. Correct or leave out what does not hold, and check again.",
);

/// The claims of an answer, checked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// In the order of the answer.
    pub claims: Vec<ClaimReport>,
    /// How many have each verdict.
    pub counts: Counts,
    /// How many citations follow no quotation, so that they cannot be checked.
    pub unquoted: usize,
    /// How many claims there are.
    pub total: usize,
    /// Whether there are more than were returned.
    pub truncated: bool,
    /// The arguments that continue; null when nothing is left.
    pub next: Option<Next>,
}

/// A claim that was checked. What is not known is null.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClaimReport {
    /// The quotation.
    pub quote: String,
    /// Where it is said to stand.
    pub citation: Option<String>,
    /// Whether it does.
    pub verdict: Verdict,
    /// PATH#SLUG of where it stands.
    pub correct_citation: Option<String>,
    /// The absolute path of the document in which it stands.
    pub path: Option<String>,
    /// The headings that lead to it.
    pub heading: Option<String>,
    /// The line where it begins, from 1.
    pub start_line: Option<usize>,
    /// What stands there, verbatim.
    pub text: Option<String>,
    /// The source, with a text fragment that leads to the passage.
    pub url: Option<String>,
    /// When it was fetched.
    pub fetched_at: Option<String>,
    /// Whether the last refresh found the source changed or gone.
    pub stale: Option<bool>,
}

/// How many claims have each verdict.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Counts {
    /// Stand where they are said to.
    pub found: usize,
    /// Stand in another place.
    pub elsewhere: usize,
    /// Stand nowhere.
    pub not_found: usize,
    /// Too short to tell.
    pub too_short: usize,
}

impl From<Checked> for ClaimReport {
    fn from(Checked { claim, verdict, place }: Checked) -> Self {
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
            path: Some(ragmaker_files::shown(place.path).0),
            heading: Some(place.heading),
            start_line: Some(place.start_line),
            text: Some(place.text),
            url: place.url,
            fetched_at: place.fetched_at,
            stale: Some(place.stale),
        }
    }
}

/// The page of the `checked` claims that starts at `offset`.
///
/// # Errors
///
/// [`CITATION_FAILED`] with the same as details where any claim does not hold;
/// [`ragmaker_tool::OFFSET_BEYOND_END`].
pub fn report(checked: Vec<Checked>, unquoted: usize, offset: Offset, limit: Option<Limit>) -> Result<Report, Error> {
    let mut counts = Counts::default();
    for one in &checked {
        *match one.verdict {
            Verdict::Found => &mut counts.found,
            Verdict::Elsewhere => &mut counts.elsewhere,
            Verdict::NotFound => &mut counts.not_found,
            Verdict::TooShort => &mut counts.too_short,
        } += 1;
    }
    let total = checked.len();
    let claims: Vec<ClaimReport> = checked.into_iter().map(ClaimReport::from).collect();
    let frame = Report { claims: vec![], counts, unquoted, total, truncated: false, next: Some(Next::WIDEST) };
    let failed = total - counts.found;
    if failed == 0 {
        let page = Budget::beside(&frame).page(claims, offset, limit)?;
        return Ok(Report { claims: page.items, truncated: page.next.is_some(), next: page.next, ..frame });
    }
    let stand =
        if total == 1 { "the claim does not hold".into() } else { format!("{failed} of {total} claims do not hold") };
    let error = |report: &Report| {
        let mut error = CITATION_FAILED.error(stand.clone());
        if let Ok(serde_json::Value::Object(members)) = serde_json::to_value(report) {
            for (name, value) in members {
                error = error.detail(&name, value);
            }
        }
        error
    };
    let page = Budget::beside(&error(&frame)).page(claims, offset, limit)?;
    Err(error(&Report { claims: page.items, truncated: page.next.is_some(), next: page.next, ..frame }))
}
