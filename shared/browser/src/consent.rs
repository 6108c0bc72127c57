//! The outcome for a page's consent banner.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The outcome for a consent banner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConsentOutcome {
    /// The page showed none once it was ready.
    #[default]
    None,
    /// It loads the script of a platform, and showed no banner within 0.8 seconds; one may come later.
    NotShown,
    /// It was declined and is gone.
    Declined,
    /// It was declined, and still shows.
    StillShown,
    /// It has nothing that declines. It stays; nothing was accepted.
    NoRefusal,
}

/// A consent banner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Consent {
    /// How it ended.
    pub outcome: ConsentOutcome,
    /// The platform that made it, or `dialog`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The labels of what was clicked, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clicked: Vec<String>,
}
