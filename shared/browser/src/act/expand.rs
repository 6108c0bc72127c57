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

/// Expands pages.
pub(crate) trait ExpandPage: StepTarget {
    /// Expands the page.
    fn expand(&mut self, expand: Expand) -> Result<Expanded, Failure> {
        self.expanded(expand).map_err(|error| error.into_failure(self.url()))
    }

    fn expanded(&mut self, expand: Expand) -> Result<Expanded, StepError> {
        self.begin()?;
        let (mut screens, mut complete) = (0, true);
        // What comes on scrolling may be folded, and what was folded may be long.
        for round in 0.. {
            let opened = if expand.folded { self.open_folded(&mut complete)? } else { 0 };
            if !expand.scroll || !complete || (round > 0 && opened == 0) {
                break;
            }
            screens += self.scroll_to_end(&mut complete)?;
            if !expand.folded {
                break;
            }
        }
        let counted = self.ask_expand("end")?;
        Ok(Expanded { screens, complete, ..Expanded::deserialize(counted).unwrap_or_default() })
    }

    /// Opens what is folded until nothing is; how much was opened.
    fn open_folded(&mut self, complete: &mut bool) -> Result<u64, StepError> {
        let mut opened = 0;
        self.ask_expand("copy")?;
        for round in 0.. {
            let begun = Instant::now();
            if round >= MAX_ROUNDS || begun >= self.until() {
                *complete = false;
                break;
            }
            let done = self.ask_expand("open")?["done"].as_u64().unwrap_or_default();
            if done == 0 {
                break;
            }
            self.settle_expanded(begun)?;
            self.ask_expand("copy")?;
            opened += done;
        }
        Ok(opened)
    }

    /// Scrolls until nothing more comes; how many screens.
    fn scroll_to_end(&mut self, complete: &mut bool) -> Result<u64, StepError> {
        let (mut screens, mut still, mut before) = (0, 0, Value::Null);
        self.ask_expand("top")?;
        loop {
            let begun = Instant::now();
            if screens >= MAX_SCREENS || begun >= self.until() {
                *complete = false;
                return Ok(screens);
            }
            let scrolled = self.ask_expand("scroll")?;
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

    fn ask_expand(&mut self, what: &str) -> Result<Value, StepError> {
        match self.ask(&EXPAND, what, &Value::Null) {
            // It has become another document: nothing of that is expanded.
            Err(CommandError::Failed(_)) => Ok(json!({})),
            answer => Ok(answer?),
        }
    }
}

impl<S: StepTarget + ?Sized> ExpandPage for S {}
