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
            if banner.did == Some(Did::Expected) {
                if consent.outcome == ConsentOutcome::None {
                    consent.outcome = ConsentOutcome::NotShown;
                }
            } else {
                consent.platform = consent.platform.or(banner.platform);
                if matches!(consent.outcome, ConsentOutcome::None | ConsentOutcome::NotShown) {
                    consent.outcome = ConsentOutcome::NoRefusal;
                }
            }
            consent.clicked.extend(banner.label);
            match banner.did {
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
                    let may_come = banner.did.is_some() || !consent.clicked.is_empty();
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

    /// Asks the frames. What a frame did counts more than that another one shows a banner: the page shows that of its
    /// frame.
    fn consent(&mut self, what: &str) -> Result<Option<FrameBanner>, StepError> {
        let banner = |answer: &Value| Option::<FrameBanner>::deserialize(answer).ok().flatten();
        let shows = |banner: &FrameBanner| banner.did != Some(Did::Expected);
        let did = |answer: &Value| banner(answer).is_some_and(|banner| shows(&banner) && banner.did.is_some());
        let answers = self.ask_frames(&CONSENT, (what, &Value::Null), &did)?;
        let mut found: Option<FrameBanner> = None;
        for banner in answers.iter().filter_map(banner) {
            if shows(&banner) && banner.did.is_some() {
                return Ok(Some(banner));
            }
            if found.as_ref().is_none_or(|other| shows(&banner) && other.did == Some(Did::Expected)) {
                found = Some(banner);
            }
        }
        Ok(found)
    }
}

impl<S: StepTarget + ?Sized> DeclineConsent for S {}
