//! Citations: checks that the cited sections contain the quotations of an answer.
//!
//! A claim is a quotation followed by `[PATH#SLUG]` ([`claims`]). It is correct if the section below that heading
//! contains the quotation in one piece. Both texts are normalized before the comparison: Markdown syntax, Unicode
//! compatibility forms, kinds of quotes, dashes and white space (`fold`). Similarity is not used: a quotation with one
//! changed word is not found. If another section contains the quotation, the report names that section.
//!
//! The cited documents are searched first. All quotations that are not found there are searched in the other documents,
//! with one pass of an Aho-Corasick automaton over each document (`find`).

mod answer;
mod chars;
mod claims;
mod find;
mod fold;
mod link;
mod report;
mod source;

pub use answer::{ANSWER_NOT_READABLE, read_answer};
pub use claims::{Claim, Claims, claims};
pub use find::{CheckedClaim, ClaimVerdict, Passage, check};
pub use report::{CITATION_FAILED, CitationReport, ClaimReport, Counts, report};

#[cfg(test)]
mod tests;
