//! Requests for expanding a page, and the result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of content to expand before the page is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expand {
    /// Collapsed sections, tabs, and buttons that show more, in the main content.
    pub folded: bool,
    /// Content that loads on scrolling.
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
    /// Collapsed sections that were opened.
    pub sections: u64,
    /// Further tabs that were shown.
    pub tabs: u64,
    /// Clicks on controls such as "show more" that brought something.
    pub more: u64,
    /// Screens that were scrolled.
    #[serde(default)]
    pub screens: u64,
    /// Rows read from virtual lists, which contain only the visible rows.
    pub rows: u64,
    /// Whether everything was expanded within the time limit. It was not if a tab did not open, or if the page had to be
    /// loaded again because a control led to another page.
    #[serde(default)]
    pub complete: bool,
}
