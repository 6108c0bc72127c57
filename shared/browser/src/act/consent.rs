//! Declining consent banners: in the page, and in its frames.

use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;

use super::{input::StepError, step_target::StepTarget};
use crate::{
    consent::{Consent, ConsentOutcome},
    elements::CONSENT,
    error::Failure,
    limits,
};

/// The maximum number of clicks: some banners have two layers and a final question.
const MAX_CLICKS: usize = 4;

/// The answer of `js/consent.js` in a frame.
#[derive(Debug, Deserialize)]
pub(crate) struct FrameBanner {
    platform: Option<String>,
    label: Option<String>,
    did: Option<Did>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Did {
    Refused,
    Opened,
    /// The script of a platform is there, and no banner yet.
    Expected,
}

impl FrameBanner {
    /// The banner in the answer of a frame.
    fn of(answer: &Value) -> Option<Self> {
        Option::deserialize(answer).ok().flatten()
    }

    /// Whether something was clicked.
    fn has_acted(&self) -> bool {
        matches!(self.did, Some(Did::Refused | Did::Opened))
    }

    /// The banner that counts: what a frame did counts more than that another one shows a banner, which the page may show
    /// of its frame; and a banner more than one that may come.
    fn foremost(banners: impl Iterator<Item = Self>) -> Option<Self> {
        banners.min_by_key(|banner| match banner.did {
            Some(Did::Refused | Did::Opened) => 0,
            None => 1,
            Some(Did::Expected) => 2,
        })
    }
}

impl Consent {
    /// Notes what a look at the page has found.
    fn note(&mut self, banner: FrameBanner) {
        if banner.did == Some(Did::Expected) {
            if self.outcome == ConsentOutcome::None {
                self.outcome = ConsentOutcome::NotShown;
            }
        } else {
            self.platform = self.platform.take().or(banner.platform);
            if matches!(self.outcome, ConsentOutcome::None | ConsentOutcome::NotShown) {
                self.outcome = ConsentOutcome::NoRefusal;
            }
        }
        self.clicked.extend(banner.label);
    }
}

/// Declines consent banners.
pub(crate) trait DeclineConsent: StepTarget {
    /// Declines the consent banner of the page, if it shows one.
    fn decline_consent(&mut self) -> Result<Consent, Failure> {
        self.declined().map_err(|error| error.into_failure(self.url()))
    }

    fn declined(&mut self) -> Result<Consent, StepError> {
        let mut consent = Consent::default();
        let mut patience = Instant::now() + limits::CONSENT_APPEARS;
        while consent.clicked.len() < MAX_CLICKS {
            let begun = Instant::now();
            let Some(banner) = self.consent("step")? else { break };
            let did = banner.did;
            consent.note(banner);
            match did {
                Some(Did::Refused) => {
                    self.settle(begun)?;
                    consent.outcome = ConsentOutcome::StillShown;
                    if self.is_banner_gone()? {
                        consent.outcome = ConsentOutcome::Declined;
                        break;
                    }
                }
                Some(Did::Opened) => {
                    self.settle(begun)?;
                    patience = Instant::now() + limits::CONSENT_CHANGES;
                }
                // The banner, or its next layer, may be about to come.
                Some(Did::Expected) | None => {
                    let may_come = did.is_some() || !consent.clicked.is_empty();
                    if !may_come || Instant::now() >= patience.min(self.until()) {
                        break;
                    }
                    self.listen(limits::CONSENT_PAUSE)?;
                }
            }
        }
        Ok(consent)
    }

    fn is_banner_gone(&mut self) -> Result<bool, StepError> {
        let until = self.until().min(Instant::now() + limits::CONSENT_CHANGES);
        loop {
            if self.consent("shown")?.is_none_or(|banner| banner.did == Some(Did::Expected)) {
                return Ok(true);
            }
            if Instant::now() >= until {
                return Ok(false);
            }
            self.listen(limits::CONSENT_PAUSE)?;
        }
    }

    /// Asks the frames.
    fn consent(&mut self, what: &str) -> Result<Option<FrameBanner>, StepError> {
        let has_acted = |answer: &Value| FrameBanner::of(answer).is_some_and(|banner| banner.has_acted());
        let answers = self.ask_frames(&CONSENT, (what, &Value::Null), &has_acted)?;
        Ok(FrameBanner::foremost(answers.iter().filter_map(FrameBanner::of)))
    }
}

impl<S: StepTarget + ?Sized> DeclineConsent for S {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(label: &str) -> Value {
        json!({"platform": "tides", "label": label, "did": "refused"})
    }

    /// The label of the banner that counts among those of the answers of frames, and what was done to it.
    fn foremost(answers: &[Value]) -> Option<(Option<String>, Option<Did>)> {
        let banner = FrameBanner::foremost(answers.iter().filter_map(FrameBanner::of))?;
        Some((banner.label, banner.did))
    }

    #[test]
    fn what_was_clicked_counts_before_what_is_shown_and_that_before_what_may_come() {
        let (expected, shown) = (json!({"did": "expected"}), json!({"platform": "dialog"}));
        let opened = json!({"label": "Options", "did": "opened"});
        assert_eq!(foremost(&[Value::Null, expected.clone()]), Some((None, Some(Did::Expected))));
        assert_eq!(foremost(&[expected.clone(), shown.clone()]), Some((None, None)));
        for answers in [[expected, shown.clone(), refused("No")], [shown.clone(), refused("No"), opened.clone()]] {
            assert_eq!(foremost(&answers), Some((Some("No".into()), Some(Did::Refused))));
        }
        assert_eq!(foremost(&[opened, refused("No")]).unwrap().1, Some(Did::Opened));
        // No answer of the script.
        assert_eq!(foremost(&[Value::Null, json!(true), json!({"did": "accepted"})]), None);
    }

    #[test]
    fn a_frame_that_clicked_is_enough() {
        let has_acted = |did: Value| FrameBanner::of(&json!({"did": did})).unwrap().has_acted();
        assert!(has_acted(json!("refused")) && has_acted(json!("opened")));
        assert!(!has_acted(json!("expected")) && !has_acted(Value::Null));
    }

    #[test]
    fn a_banner_without_refusal_is_told_from_none_and_from_one_that_may_come() {
        let looks = |answers: &[Value]| {
            let mut consent = Consent::default();
            answers.iter().filter_map(FrameBanner::of).for_each(|banner| consent.note(banner));
            consent
        };
        let (expected, shown) = (json!({"did": "expected", "platform": "early"}), json!({"platform": "dialog"}));
        let not_shown = looks(&[expected.clone(), expected.clone()]);
        assert_eq!(not_shown, Consent { outcome: ConsentOutcome::NotShown, ..Consent::default() });
        let came = looks(&[expected.clone(), shown.clone(), expected]);
        assert_eq!((came.outcome, came.platform.as_deref()), (ConsentOutcome::NoRefusal, Some("dialog")));
        // The platform is that of the first layer.
        let layers = looks(&[refused("Options"), shown, json!({"label": "No", "did": "refused"})]);
        assert_eq!((layers.platform.as_deref(), layers.clicked), (Some("tides"), vec!["Options".into(), "No".into()]));
    }

    #[test]
    fn what_was_declined_is_no_banner_without_refusal() {
        for outcome in [ConsentOutcome::StillShown, ConsentOutcome::Declined] {
            let mut consent = Consent { outcome, ..Consent::default() };
            for answer in [json!({"did": "expected"}), json!({}), refused("No")] {
                consent.note(FrameBanner::of(&answer).unwrap());
            }
            assert_eq!(consent.outcome, outcome);
        }
    }
}
