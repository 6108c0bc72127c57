//! Expansion of a page: opens collapsed sections and scrolls until nothing more loads.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{input::StepError, step_target::StepTarget};
use crate::{
    elements::EXPAND,
    error::{CommandError, Failure},
    expansion::{Expand, Expanded},
    limits,
};

/// The maximum number of rounds: a section may contain others, and a button may load the next part many times.
const MAX_ROUNDS: usize = 250;

/// The maximum number of screens that are scrolled.
const MAX_SCREENS: u64 = 2_000;

/// The number of consecutive scrolls without new content that mean the end of the page.
const STILL: usize = 2;

/// How often a page is expanded again after one of its controls led to another page.
const MAX_RETURNS: usize = 2;

/// The reason why an expansion ended early.
pub(crate) enum Interruption {
    /// The tab shows another page. The controls with these keys may have led to it.
    Left(Vec<String>),
    Step(StepError),
}

impl<E: Into<StepError>> From<E> for Interruption {
    fn from(error: E) -> Self {
        Self::Step(error.into())
    }
}

/// Expands pages.
pub(crate) trait ExpandPage: StepTarget {
    /// Expands the page. The page stays the one that it is: the browser refuses to leave it for another document. Where
    /// it was left nevertheless, it is loaded again, and expanded without what led elsewhere.
    fn expand(&mut self, expand: Expand) -> Result<Expanded, Failure> {
        let (mut avoided, mut clicked) = (vec![], vec![]);
        for returns in 0..=MAX_RETURNS {
            match self.expanded(expand, &avoided, &mut clicked) {
                Ok(expanded) => {
                    return Ok(Expanded { complete: expanded.complete && returns == 0, ..expanded });
                }
                // A browser without the Navigation API does not tell which click led elsewhere.
                Err(Interruption::Left(by)) => avoided.extend(if by.is_empty() { clicked.clone() } else { by }),
                Err(Interruption::Step(error)) => return Err(error.into_failure(self.url())),
            }
            self.load_again()?;
        }
        Ok(Expanded::default())
    }

    /// Expands the page without the controls `avoided`. `clicked` is set to what the last round clicked.
    fn expanded(
        &mut self,
        expand: Expand,
        avoided: &[String],
        clicked: &mut Vec<String>,
    ) -> Result<Expanded, Interruption> {
        self.begin()?;
        self.ask_expand("begin", &json!(avoided))?;
        let (mut screens, mut complete) = (0, true);
        // What comes on scrolling may be folded, and what was folded may be long.
        for round in 0.. {
            let opened = if expand.folded { self.open_folded(&mut complete, clicked)? } else { 0 };
            if !expand.scroll || !complete || (round > 0 && opened == 0) {
                break;
            }
            screens += self.scroll_to_end(&mut complete)?;
            if !expand.folded {
                break;
            }
        }
        let counted = Expanded::deserialize(self.ask_expand("end", &Value::Null)?).unwrap_or_default();
        Ok(Expanded { screens, complete: complete && counted.complete, ..counted })
    }

    /// Opens what is folded until nothing is; how much was opened.
    fn open_folded(&mut self, complete: &mut bool, clicked: &mut Vec<String>) -> Result<u64, Interruption> {
        let mut opened = 0;
        self.ask_expand("copy", &Value::Null)?;
        for round in 0.. {
            let begun = Instant::now();
            if round >= MAX_ROUNDS || begun >= self.until() {
                *complete = false;
                break;
            }
            let answer = self.ask_expand("open", &Value::Null)?;
            let done = answer["done"].as_u64().unwrap_or_default();
            if done == 0 {
                break;
            }
            *clicked = Vec::deserialize(&answer["clicked"]).unwrap_or_default();
            self.settle_expanded(begun)?;
            if self.ask_expand("copy", &Value::Null)?["waiting"].as_u64() > Some(0) {
                self.listen(limits::GROWTH_TIMEOUT)?;
                self.settle_expanded(Instant::now())?;
                self.ask_expand("check", &Value::Null)?;
            }
            opened += done;
        }
        Ok(opened)
    }

    /// Scrolls until nothing more comes; how many screens.
    fn scroll_to_end(&mut self, complete: &mut bool) -> Result<u64, Interruption> {
        let (mut screens, mut still, mut before) = (0, 0, Value::Null);
        self.ask_expand("top", &Value::Null)?;
        loop {
            let begun = Instant::now();
            if screens >= MAX_SCREENS || begun >= self.until() {
                *complete = false;
                return Ok(screens);
            }
            let scrolled = self.ask_expand("scroll", &Value::Null)?;
            self.settle_expanded(begun)?;
            if scrolled["moved"] == true {
                (screens, still) = (screens + 1, 0);
                continue;
            }
            let size = scrolled["size"].clone();
            still = if size == before { still + 1 } else { 0 };
            before = size;
            if still >= STILL {
                return Ok(screens);
            }
            self.listen(limits::GROWTH_TIMEOUT)?;
        }
    }

    fn ask_expand(&mut self, what: &str, given: &Value) -> Result<Value, Interruption> {
        let answer = match self.ask(&EXPAND, what, given) {
            // The document is being replaced, or the page interferes with the script.
            Err(CommandError::Failed(_)) => {
                self.settle_expanded(Instant::now())?;
                match self.ask(&EXPAND, "here", &Value::Null) {
                    Err(CommandError::Failed(_)) => json!({}),
                    answer => answer?,
                }
            }
            answer => answer?,
        };
        if answer["left"] == true {
            return Err(Interruption::Left(Vec::deserialize(&answer["by"]).unwrap_or_default()));
        }
        Ok(answer)
    }
}

impl<S: StepTarget + ?Sized> ExpandPage for S {}
