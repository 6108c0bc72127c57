//! A part of a list that every client takes, and how to go on.

use ragmaker_tool::{Error, JsonSchema, OFFSET_BEYOND_END, OUTPUT_LIMIT, json};
use serde::Serialize;

/// Characters that are kept for everything but the list.
const AROUND: usize = 2500;
/// What an element takes beside itself: its line, its indent, its comma.
const LINE: usize = 7;

/// A part of a list.
#[derive(Debug)]
pub struct Page<T> {
    /// The elements.
    pub items: Vec<T>,
    /// How many the whole list has.
    pub total: usize,
    /// How to go on, where something is left.
    pub next: Option<Next>,
}

/// The arguments that continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Next {
    /// How many elements to leave out.
    pub offset: usize,
}

impl<T: Serialize> Page<T> {
    /// The elements of `all` from `offset` on, each made printable by `show`, which leaves out those that
    /// are gone: `limit` of them, or without it as many as an answer takes.
    pub fn cut<S>(
        all: Vec<S>,
        offset: usize,
        limit: Option<usize>,
        show: impl FnMut(S) -> Option<T>,
    ) -> Result<Self, Error> {
        let total = all.len();
        Self::of(all, total, offset, limit, show)
    }

    /// The same of a list of `total` elements, of which `start` holds as many as an answer may need.
    pub fn of<S>(
        start: Vec<S>,
        total: usize,
        offset: usize,
        limit: Option<usize>,
        mut show: impl FnMut(S) -> Option<T>,
    ) -> Result<Self, Error> {
        if offset > 0 && offset >= total {
            return Err(OFFSET_BEYOND_END
                .error(format!("there are {total} entries: none is left after {offset}"))
                .detail("total", total));
        }
        let charset = json::Charset::from_env();
        let mut budget = OUTPUT_LIMIT - AROUND;
        let (mut items, mut end) = (vec![], offset);
        for one in start.into_iter().skip(offset).take(limit.unwrap_or(usize::MAX)) {
            let Some(item) = show(one) else {
                end += 1;
                continue;
            };
            if limit.is_none() {
                let cost = json::cost(&item, charset) + LINE;
                // One element is always returned, or nobody could go on.
                if cost > budget && !items.is_empty() {
                    break;
                }
                budget = budget.saturating_sub(cost);
            }
            items.push(item);
            end += 1;
        }
        Ok(Self { items, total, next: (end < total).then_some(Next { offset: end }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_join_to_the_whole() {
        let all: Vec<String> = (0..5000).map(|n| format!("entry {n} 日本")).collect();
        let (mut joined, mut offset) = (vec![], 0);
        loop {
            let page = Page::cut(all.clone(), offset, None, Some).unwrap();
            assert!(json::cost(&page.items, json::Charset::Utf8) < OUTPUT_LIMIT - 1000);
            assert_eq!(page.total, 5000);
            joined.extend(page.items);
            let Some(next) = page.next else { break };
            offset = next.offset;
        }
        assert_eq!(joined, all);
        assert_eq!(Page::cut(all.clone(), 10, Some(4000), Some).unwrap().items.len(), 4000);
        assert!(Page::cut(all, 5000, None, Some).unwrap_err().is(OFFSET_BEYOND_END));
        assert_eq!(Page::<String>::cut(Vec::<String>::new(), 0, None, Some).unwrap().next, None);
    }
}
