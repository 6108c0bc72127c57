//! The end of the workflow `ask`: the quotations of the answer are checked against the knowledge bases. The model
//! repairs those that do not hold, and what still does not hold is marked.

use ragmaker_catalog::Catalog;
use ragmaker_citation::{ClaimReport, ClaimVerdict, check, claims};
use ragmaker_model::Message;
use ragmaker_tool::{Caller, Error, Invocation};
use serde_json::{Value, json};

use crate::{
    agent::Agent,
    citations::found,
    machine::{Event, Phase},
};

/// How often the model may repair an answer.
const REPAIRS: usize = 2;

impl Agent {
    /// As [`Agent::say`], for the workflow `ask`.
    ///
    /// # Errors
    ///
    /// Those of [`Agent::say`].
    pub(crate) fn say_checked(&mut self, text: &str) -> Result<String, Error> {
        self.calls.clear();
        self.take(Event::Check { repairs: 0 })?;
        let draft = self.turn(text)?;
        self.checked(draft)
    }

    /// The answer whose check the end of the program interrupted.
    pub(crate) fn unchecked(&self) -> Option<String> {
        let is_unchecked = self.state.check.is_some() && self.state.phase == Phase::End;
        match self.state.history.messages().last().filter(|_| is_unchecked)? {
            Message::Assistant { text, .. } => Some(text.clone()),
            _ => None,
        }
    }

    /// The answer of a turn that ended with `draft`, and that was checked if the turn requires it. Shows the answer.
    pub(crate) fn checked(&mut self, draft: String) -> Result<String, Error> {
        let Some(first) = self.state.check else {
            self.screen.answer(&draft);
            return Ok(draft);
        };
        let mut answer = draft;
        let mut failed = self.failed_claims(&answer);
        for repairs in first + 1..=REPAIRS {
            if failed.is_empty() {
                break;
            }
            self.take(Event::Check { repairs })?;
            answer = self.turn(&self.language.repair(&json!(failed).to_string()))?;
            failed = self.failed_claims(&answer);
        }
        self.take(Event::Checked)?;
        if failed.is_empty() {
            self.screen.answer(&answer);
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
