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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ragmaker_testkit::{folder, write};

    use super::*;
    use crate::agent::tests::{agent, model};

    const TRUE: &str = "\"High water comes twice a day\" [cache/tides.md#tides].";
    const FALSE: &str = "\"High water comes once a day\" [cache/tides.md#tides].";

    /// A knowledge base with one document in the project.
    fn knowledge_base(root: &Path) {
        write(root, ".tmp/cache/tides.md", "# Tides\n\nHigh water comes twice a day.\n");
        let catalog = json!({"documents": [{"url": "https://x.example/tides", "path": "tides.md"}]});
        write(root, ".tmp/cache/catalog.json", catalog.to_string());
    }

    #[test]
    fn a_quotation_that_is_not_found_is_repaired() {
        let (_holder, root) = folder("project");
        knowledge_base(&root);
        let server = model(&[FALSE, TRUE]);
        let mut agent = agent(&root, &server.url);
        assert_eq!(agent.say_checked("how often?").unwrap(), TRUE);
        let requests = server.requests();
        let repair = requests[1].body.to_string();
        assert!(requests.len() == 2 && repair.contains("not_found"), "{repair}");
        let sources = agent.sources(TRUE);
        assert_eq!((sources.len(), &sources[0]["found"]), (1, &json!(true)), "{sources:?}");
    }

    #[test]
    fn a_quotation_that_stays_wrong_is_marked_after_the_last_repair() {
        let (_holder, root) = folder("project");
        knowledge_base(&root);
        let server = model(&[FALSE, FALSE, FALSE, "not asked for"]);
        let mut agent = agent(&root, &server.url);
        let answer = agent.say_checked("how often?").unwrap();
        assert_eq!(server.requests().len(), 1 + REPAIRS);
        let mark = answer.strip_prefix(FALSE).unwrap();
        assert!(mark.contains("(cache/tides.md#tides): \"High water comes once a day\""), "{mark}");
        // The mark is not a claim itself.
        assert_eq!(agent.sources(&answer).len(), 1);
    }

    #[test]
    fn an_answer_without_quotations_is_not_repaired() {
        let (_holder, root) = folder("project");
        let server = model(&["I do not know.", "not asked for"]);
        let mut agent = agent(&root, &server.url);
        assert_eq!(agent.say_checked("how often?").unwrap(), "I do not know.");
        assert_eq!(server.requests().len(), 1);
        // Without knowledge bases, nothing is said to be found.
        assert!(agent.sources(TRUE).iter().all(|source| source["found"] == false));
    }
}
