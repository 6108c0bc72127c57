//! The plan of a section: the addresses from its start page, sitemaps and llms.txt, each kept or dropped.

use std::io::{self, Write as _};

use ragmaker_site::Planned;
use ragmaker_tool::{
    Budget, Error, Limit, Next, Offset,
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
    /// The addresses of `pages` after the first `offset`: `limit` of them, or without it as many as fit.
    pub(crate) fn of(pages: Vec<Planned>, offset: Offset, limit: Option<Limit>) -> Result<Self, Error> {
        let kept = pages.iter().filter(|page| page.kept).count();
        let (total, dropped) = (pages.len(), pages.len() - kept);
        let frame = Self { kept, dropped, pages: vec![], total, truncated: true, next: Some(Next::WIDEST) };
        let page = Budget::for_frame(&frame).page(pages, offset, limit)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(number: usize) -> Planned {
        let (url, kept) = (format!("https://x.example/{number}"), !number.is_multiple_of(3));
        Planned { url, kept, reason: "a sitemap names it".to_owned() }
    }

    #[test]
    fn the_pages_of_a_plan_are_all_addresses_in_order() {
        let all = 3_000;
        let (mut offset, mut seen) = (0, vec![]);
        loop {
            let plan = Plan::of((0..all).map(planned).collect(), Offset::new(offset), None).unwrap();
            assert_eq!((plan.total, plan.kept, plan.dropped), (all, 2_000, 1_000));
            assert_eq!(plan.truncated, plan.next.is_some());
            seen.extend(plan.pages.into_iter().map(|page| page.url));
            let Some(next) = plan.next else { break };
            offset = serde_json::to_value(next).unwrap()["offset"].as_u64().unwrap();
            assert_eq!(offset, seen.len() as u64);
        }
        assert!(seen.into_iter().eq((0..all).map(|number| planned(number).url)) && offset > 0);
    }

    #[test]
    fn a_plan_without_addresses_is_whole_and_has_no_place_beyond_its_end() {
        let plan = Plan::of(vec![], Offset::new(0), None).unwrap();
        assert!(plan.total == 0 && !plan.truncated && plan.next.is_none());
        assert!(Plan::of(vec![planned(1)], Offset::new(5), None).unwrap_err().is(ragmaker_tool::OFFSET_BEYOND_END));
    }
}
