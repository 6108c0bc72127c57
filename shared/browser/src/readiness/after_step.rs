//! The end of the wait after a step.

use std::time::Duration;

use serde_json::Value;

use super::{NetworkState, TextDensity};
use crate::limits::LIMITS;

/// What the page script says of a page after a step.
pub(crate) struct PageAfterStep {
    /// The amount of text.
    pub(crate) text: TextDensity,
    /// Whether the document is loaded.
    pub(crate) is_complete: bool,
    /// Whether a timer or a redirect of the step is due.
    is_due: bool,
    /// The milliseconds since the last change.
    quiet: f64,
}

impl PageAfterStep {
    /// Reads the answer of the page script; null stands for a document that is being replaced.
    pub(crate) fn of(answer: &Value) -> Self {
        let number = |name: &str| answer[name].as_f64().unwrap_or_default();
        let text = TextDensity::of(answer);
        let is_due = number("timers") > 0.0 || (number("redirects") > 0.0 && text == TextDensity::Sparse);
        Self { text, is_complete: answer["ready"] == "complete", is_due, quiet: number("quiet") }
    }

    /// How long to wait before the page is asked again; `None` if it is idle. `since` is the time since the step began.
    ///
    /// A page in which nothing has changed since then is idle at once.
    pub(crate) fn pause(&self, since: Duration, network: NetworkState) -> Option<Duration> {
        let missing = f64::from(LIMITS.page.quiet_after_step) - self.quiet;
        let is_quiet = missing <= 0.0 || self.quiet + 2.0 >= since.as_secs_f64() * 1000.0;
        if is_quiet && !self.is_due && network != NetworkState::Busy {
            return None;
        }
        let missing = Duration::from_secs_f64(missing.max(0.0) / 1000.0);
        Some(if is_quiet || self.is_due { LIMITS.pause } else { missing.min(LIMITS.pause) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn pause(answer: &Value, since: Duration, network: NetworkState) -> Option<Duration> {
        PageAfterStep::of(answer).pause(since, network)
    }

    #[test]
    fn a_page_is_idle_when_nothing_has_changed_for_a_while_or_since_the_step() {
        let limit = LIMITS.page.quiet_after_step;
        assert_eq!(pause(&json!({"quiet": limit}), SECOND, NetworkState::Idle), None);
        let rest = pause(&json!({"quiet": limit - 5}), SECOND, NetworkState::Idle);
        assert_eq!(rest, Some(Duration::from_millis(5).min(LIMITS.pause)));
        assert_eq!(pause(&json!({"quiet": 4}), Duration::from_millis(5), NetworkState::Idle), None);
    }

    #[test]
    fn open_requests_and_due_timers_are_waited_for() {
        let quiet = |name: &str| json!({"quiet": 500, name: 1});
        assert_eq!(pause(&quiet("none"), SECOND, NetworkState::Open), None);
        assert_eq!(pause(&quiet("none"), SECOND, NetworkState::Busy), Some(LIMITS.pause));
        assert_eq!(pause(&quiet("timers"), SECOND, NetworkState::Idle), Some(LIMITS.pause));
        // A page that has text does not wait for a script that may redirect it.
        assert_eq!(pause(&quiet("redirects"), SECOND, NetworkState::Idle), None);
        let sparse = json!({"quiet": 500, "redirects": 1, "sparse": true});
        assert_eq!(pause(&sparse, SECOND, NetworkState::Idle), Some(LIMITS.pause));
    }

    #[test]
    fn a_document_that_is_being_replaced_is_not_complete() {
        assert!(!PageAfterStep::of(&Value::Null).is_complete);
        assert!(!PageAfterStep::of(&json!({"ready": "interactive"})).is_complete);
        assert!(PageAfterStep::of(&json!({"ready": "complete"})).is_complete);
    }
}
