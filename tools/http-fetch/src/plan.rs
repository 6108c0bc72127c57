//! The plan of a section: the addresses from its start page, sitemaps and llms.txt, each kept or dropped.

use std::io::{self, Write as _};

use ragmaker_site::Planned;
use ragmaker_tool::{
    Budget, Error, Next, Offset,
    json::{self, Charset},
};
use schemars::JsonSchema;
use serde::Serialize;

/// The addresses that would be fetched. Links of deeper pages are not known before those pages are fetched.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Plan {
    /// The number of addresses that would be fetched.
    pub kept: usize,
    /// The number of addresses that would not be fetched.
    pub dropped: usize,
    /// The addresses.
    pub pages: Vec<Planned>,
    /// The number of all addresses.
    pub total: usize,
    /// Whether addresses remain after the listed ones.
    pub truncated: bool,
    /// The arguments for the next page; null on the last page.
    pub next: Option<Next>,
}

impl Plan {
    /// The addresses of `pages` after the first `offset`, as many as fit.
    pub(crate) fn of(pages: Vec<Planned>, offset: Offset) -> Result<Self, Error> {
        let kept = pages.iter().filter(|page| page.kept).count();
        let (total, dropped) = (pages.len(), pages.len() - kept);
        let frame = Self { kept, dropped, pages: vec![], total, truncated: true, next: Some(Next::WIDEST) };
        let page = Budget::for_frame(&frame).page(pages, offset, None)?;
        Ok(Self { pages: page.items, truncated: page.next.is_some(), next: page.next, ..frame })
    }
}

/// Prints each address as one line of JSON.
pub(crate) fn print(pages: &[Planned]) {
    let mut out = vec![];
    for page in pages {
        // An address is texts, which can be written to memory.
        let _ = json::write_line(page, Charset::from_env(), &mut out);
    }
    // Whoever has closed the pipe wants no more of them.
    let _ = io::stdout().write_all(&out).and_then(|()| io::stdout().flush());
}
