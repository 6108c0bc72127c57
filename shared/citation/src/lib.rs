//! Citations: whether the quotations of an answer stand where it says.
//!
//! A claim is a quotation followed by `[PATH#SLUG]` ([`claims`]). It holds when the quotation stands in one
//! piece below that heading of that document. Both are normalized before they are compared: Markdown marks, Unicode
//! compatibility forms, kinds of quotes, dashes and white space (`fold`). Nothing is compared by similarity: one
//! changed word is not found. Where a quotation stands elsewhere, its right place is named.
//!
//! The cited documents are read first, and the others only for what is not found there: all at once, with
//! one pass of an Aho-Corasick automaton over each document (`find`).

mod answer;
mod claims;
mod find;
mod fold;
mod link;
mod report;

pub use answer::{ANSWER_NOT_READABLE, read_answer};
pub use claims::{Claim, Claims, claims};
pub use find::{Checked, Place, Verdict, check};
pub use report::{CITATION_FAILED, ClaimReport, Counts, Report, report};

#[cfg(test)]
mod tests;
