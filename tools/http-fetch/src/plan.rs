//! The plan of a section: the addresses from its start page, sitemaps and llms.txt, each kept or dropped.

use ragmaker_site::Planned;
use ragmaker_tool::{Budget, Error, Next, Offset};
use schemars::JsonSchema;
use serde::Serialize;

/// What would be fetched; the links of pages further in are not known before those are fetched.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Plan {
    /// How many of the addresses would be fetched.
    pub kept: usize,
    /// How many would not.
    pub dropped: usize,
    /// The addresses.
    pub pages: Vec<Planned>,
    /// How many there are.
    pub total: usize,
    /// Whether there are more than were listed.
    pub truncated: bool,
    /// The arguments that list the rest; null when nothing is left.
    pub next: Option<Next>,
}

impl Plan {
    /// The addresses of `pages` after the first `offset`, as many as fit.
    pub(crate) fn of(pages: Vec<Planned>, offset: Offset) -> Result<Self, Error> {
        let kept = pages.iter().filter(|page| page.kept).count();
        let (total, dropped) = (pages.len(), pages.len() - kept);
        let frame = Self { kept, dropped, pages: vec![], total, truncated: true, next: Some(Next::WIDEST) };
        let page = Budget::beside(&frame).page(pages, offset, None)?;
        Ok(Self { pages: page.items, truncated: page.next.is_some(), next: page.next, ..frame })
    }
}
