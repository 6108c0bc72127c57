//! The end of the workflow `ask`: the quotations of the answer are checked against the knowledge bases. The model
//! repairs those that do not hold, and what still does not hold is marked.

use ragmaker_catalog::Catalog;
use ragmaker_citation::{ClaimReport, ClaimVerdict, check, claims};
use ragmaker_tool::{Caller, Error, Invocation};
use serde_json::{Value, json};

use crate::{agent::Agent, citations::found};

/// How often the model may repair an answer.
const REPAIRS: usize = 2;

impl Agent {
    /// As [`Agent::say`], for the workflow `ask`.
    ///
    /// # Errors
    ///
    /// Those of [`Agent::say`].
    pub(crate) fn say_checked(&mut self, text: &str) -> Result<String, Error> {
        let mut answer = self.say(text)?;
        let mut failed = self.failed_claims(&answer);
        for _ in 0..REPAIRS {
            if failed.is_empty() {
                return Ok(answer);
            }
            let calls = std::mem::take(&mut self.calls);
            let repaired = self.say(&self.language.repair(&json!(failed).to_string()));
            self.calls.splice(0..0, calls);
            answer = repaired?;
            failed = self.failed_claims(&answer);
        }
        if failed.is_empty() {
            return Ok(answer);
        }
        let line = |claim: &Value| {
            let said = |name: &str| claim[name].as_str().unwrap_or_default().to_owned();
            // Not as a claim: the check of the whole answer would find it twice.
            format!("- {} ({}): \"{}\"\n", said("verdict"), said("citation"), said("quote"))
        };
        let mark = format!("\n\n{}\n\n{}", self.language.unverified(), failed.iter().map(line).collect::<String>());
        let whole = answer.trim_end().to_owned() + &mark;
        self.screen.marked(&mark, &whole);
        Ok(whole)
    }

    /// The sources of `answer` for programs: its quotations with their verdicts, then its addresses.
    pub(crate) fn sources(&self, answer: &str) -> Vec<Value> {
        let claim = |claim: ClaimReport| {
            let mut source = json!(claim);
            source["found"] = (claim.verdict == ClaimVerdict::Found).into();
            source
        };
        let addresses = found(answer, self.state.history.messages());
        self.claims(answer).into_iter().map(claim).chain(addresses.into_iter().map(|address| json!(address))).collect()
    }

    /// The report for the model about the claims of `answer` that were not found.
    fn failed_claims(&self, answer: &str) -> Vec<Value> {
        let told = |claim: ClaimReport| {
            json!({"quote": claim.quote, "citation": claim.citation, "verdict": claim.verdict,
                "correct_citation": claim.correct_citation})
        };
        self.claims(answer).into_iter().filter(|claim| claim.verdict != ClaimVerdict::Found).map(told).collect()
    }

    /// The claims of `answer`, checked; none if the knowledge bases cannot be read.
    fn claims(&self, answer: &str) -> Vec<ClaimReport> {
        let claims = claims(answer).claims;
        if claims.is_empty() {
            return vec![];
        }
        let host = self.tools.host().clone();
        let invocation = Invocation { host, caller: Caller::Model, ..Invocation::default() };
        let checked = Catalog::all(&[], &invocation).and_then(|catalogs| check(&catalogs, claims));
        checked.unwrap_or_default().into_iter().map(ClaimReport::from).collect()
    }
}
