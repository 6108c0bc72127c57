//! What is expanded in a page before its content is taken, and how much of it was.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is expanded in a page before its content is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expand {
    /// Folded sections, tabs, and buttons that show more, in the main content.
    pub folded: bool,
    /// What comes on scrolling.
    pub scroll: bool,
}

impl Expand {
    /// Whether anything is expanded.
    pub fn is_any(self) -> bool {
        self.folded || self.scroll
    }
}

/// How much was expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Expanded {
    /// Folded sections that were opened.
    pub sections: u64,
    /// Further tabs that were shown.
    pub tabs: u64,
    /// Clicks on controls such as "show more".
    pub more: u64,
    /// Screens that were scrolled.
    #[serde(default)]
    pub screens: u64,
    /// Rows read from virtual lists, which contain only the visible rows.
    pub rows: u64,
    /// Whether nothing was left in the time that there was.
    #[serde(default)]
    pub complete: bool,
}
