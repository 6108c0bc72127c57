//! Pagination: how much one answer may contain, and where the next one starts.
//!
//! Clients cut long results in the middle, which breaks the JSON. A tool stops before that limit and returns the
//! arguments for the next page. The frame of an answer is the part around its list or text. Its size is measured by
//! printing it, so no tool estimates a margin.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Bounded, Error, OFFSET_BEYOND_END, OUTPUT_LIMIT,
    json::{self, Charset},
    run::Success,
};

/// The number of elements to skip; 0 is the first page.
pub type Offset = Bounded<0, { u64::MAX }>;
/// The maximum number of elements to return, all of them however long.
pub type Limit = Bounded<1, { u64::MAX }>;

impl Offset {
    /// The number of elements to skip, where there are `total` of the `units`, such as `files` or `characters`.
    ///
    /// # Errors
    ///
    /// [`OFFSET_BEYOND_END`] where a page after the first would start after the last element.
    pub fn within(self, total: usize, units: &str) -> Result<usize, Error> {
        let skipped = self.index();
        if skipped == 0 || skipped < total {
            return Ok(skipped);
        }
        Err(beyond_end("--offset", skipped as u64, total as u64, units))
    }
}

/// The error for an argument that skips `skipped` of the `units` where there are only `total`.
#[must_use]
pub fn beyond_end(argument: &str, skipped: u64, total: u64, units: &str) -> Error {
    OFFSET_BEYOND_END
        .error(format!("{argument} {skipped} is beyond the end: the number of {units} is {total}"))
        .remedy(format!("Choose a smaller {argument}, or leave it out."))
        .detail("argument", argument)
        .detail("total", total)
}

/// The cost of an element of a top-level array in addition to [`json::cost`], which counts its line break: four spaces
/// of indentation and a comma.
const ELEMENT: usize = 5;
/// The cost of a list compared with an empty one: its last line break and its indentation, twice if it is nested.
const LIST: usize = 8;
/// The size of a notice that a host may add to an answer with text from the web.
const NOTICE: usize = 120;
/// Two quotes and the newline after a printed string.
const AROUND_TEXT: usize = 3;

/// The arguments that continue a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Next {
    /// The number of elements to skip.
    pub offset: usize,
}

impl Next {
    /// The value with the longest printed form, for measuring a frame.
    pub const WIDEST: Self = Self { offset: usize::MAX };
}

/// The arguments that continue a list of texts, each of which can be longer than an answer: a file of many, a line of
/// a file. Such a text is cut, so the next page starts within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextWithin {
    /// The start of the list's next page.
    #[serde(flatten)]
    pub next: Next,
    /// The number of characters of the first element to skip.
    pub column_offset: usize,
}

impl NextWithin {
    /// The value with the longest printed form, for measuring a frame.
    pub const WIDEST: Self = Self { next: Next::WIDEST, column_offset: usize::MAX };
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPage<T> {
    /// The elements of this page.
    pub items: Vec<T>,
    /// The number of elements of the complete list.
    pub total: usize,
    /// The start of the next page; `None` on the last page.
    pub next: Option<Next>,
}

/// A page of a text, whose elements are its characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPage {
    /// The bytes of this page in the text.
    pub range: Range<usize>,
    /// The start of the next page; `None` on the last page.
    pub next: Option<Next>,
}

/// The characters that are left for the variable part of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    left: usize,
    charset: Charset,
}

impl Budget {
    /// The part of [`OUTPUT_LIMIT`] that `frame` leaves. `frame` is the answer with empty lists and texts, and with
    /// [`Next::WIDEST`] as its `next`.
    pub fn for_frame(frame: &impl Serialize) -> Self {
        Self::beside_in(frame, OUTPUT_LIMIT)
    }

    /// The same for an answer of less than `most` characters, where a tool says less than it could.
    pub fn beside_in(frame: &impl Serialize, most: usize) -> Self {
        let charset = Charset::from_env();
        let frame = json::cost(&Success::of(frame), charset);
        Self { left: (most.min(OUTPUT_LIMIT) - 1).saturating_sub(frame + LIST + NOTICE), charset }
    }

    /// The characters that are left.
    pub fn left(&self) -> usize {
        self.left
    }

    /// The charset that the answer is printed in.
    pub fn charset(&self) -> Charset {
        self.charset
    }

    /// Takes one element of a top-level array out of the budget, or says that it does not fit.
    pub fn take(&mut self, item: &impl Serialize) -> bool {
        let cost = json::cost(item, self.charset) + ELEMENT;
        let fits = cost <= self.left;
        if fits {
            self.left -= cost;
        }
        fits
    }

    /// Takes the longest start of `text` that fits; see [`longest_prefix`].
    pub fn take_text<'t>(&mut self, text: &'t str) -> &'t str {
        let fits = longest_prefix(text, self.left, self.charset);
        self.left -= printed(fits, self.charset);
        fits
    }

    /// The page of `text` that starts after `offset` of its `total` characters: `limit` characters, or without it as
    /// many as fit.
    ///
    /// # Errors
    ///
    /// [`OFFSET_BEYOND_END`] where a page after the first would start after the last character.
    pub fn page_of_text(
        mut self,
        text: &str,
        total: usize,
        offset: Offset,
        limit: Option<Limit>,
    ) -> Result<TextPage, Error> {
        let skipped = offset.within(total, "characters")?;
        let start = text.char_indices().nth(skipped).map_or(text.len(), |(at, _)| at);
        let rest = &text[start..];
        let shown = match limit {
            Some(limit) => rest.char_indices().nth(limit.index()).map_or(rest, |(end, _)| &rest[..end]),
            None => self.take_text(rest),
        };
        let next = (shown.len() < rest.len()).then(|| Next { offset: skipped + shown.chars().count() });
        Ok(TextPage { range: start..start + shown.len(), next })
    }

    /// The first of `items` that fit, taken out of the budget.
    pub fn take_list<T: Serialize>(&mut self, items: Vec<T>) -> Vec<T> {
        items.into_iter().take_while(|item| self.take(item)).collect()
    }

    /// The page of `all` that starts at `offset`: `limit` elements, or without it as many as fit.
    ///
    /// # Errors
    ///
    /// [`OFFSET_BEYOND_END`] where a page after the first would start after the last element.
    pub fn page<T: Serialize>(self, all: Vec<T>, offset: Offset, limit: Option<Limit>) -> Result<ListPage<T>, Error> {
        let total = all.len();
        self.page_of(all, total, offset, limit, Some)
    }

    /// Like [`Budget::page`], for a list of `total` elements. `start` must have at least the elements of the page;
    /// `show` makes each of them printable, and returns `None` for an element that no longer exists.
    ///
    /// At least one element is returned, however long it is. Otherwise the caller could not continue.
    ///
    /// # Errors
    ///
    /// As [`Budget::page`].
    pub fn page_of<S, T: Serialize>(
        mut self,
        start: Vec<S>,
        total: usize,
        offset: Offset,
        limit: Option<Limit>,
        mut show: impl FnMut(S) -> Option<T>,
    ) -> Result<ListPage<T>, Error> {
        let offset = offset.within(total, "elements")?;
        let (mut items, mut end) = (vec![], offset);
        for one in start.into_iter().skip(offset).take(limit.map_or(usize::MAX, Bounded::index)) {
            if let Some(item) = show(one) {
                if limit.is_none() && !self.take(&item) && !items.is_empty() {
                    break;
                }
                items.push(item);
            }
            end += 1;
        }
        Ok(ListPage { items, total, next: (end < total).then_some(Next { offset: end }) })
    }
}

/// The longest start of `text` that takes at most `budget` characters within a JSON string. It is cut after a
/// line, unless that would leave more than half of the budget unused: a long line is cut where the budget ends.
pub fn longest_prefix(text: &str, budget: usize, charset: Charset) -> &str {
    let fits = longest(text, budget, charset);
    if fits == text.len() {
        return text;
    }
    let line = text[..fits].rfind('\n').map_or(0, |end| end + 1);
    &text[..if line > fits / 2 { line } else { fits }]
}

/// The number of characters that `text` takes within a JSON string.
pub fn printed(text: &str, charset: Charset) -> usize {
    json::cost(&text, charset) - AROUND_TEXT
}

/// The length in bytes of the longest start of `text` that takes at most `budget` characters.
fn longest(text: &str, budget: usize, charset: Charset) -> usize {
    let most = text.char_indices().nth(budget).map_or(text.len(), |(at, _)| at);
    let (mut fits, mut exceeds) = (0, most + 1);
    loop {
        let middle = text.floor_char_boundary(usize::midpoint(fits, exceeds));
        let middle = if middle > fits { middle } else { text.ceil_char_boundary(fits + 1) };
        if middle >= exceeds || middle == fits {
            return fits;
        }
        if printed(&text[..middle], charset) <= budget { fits = middle } else { exceeds = middle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Serialize)]
    struct Answer {
        path: String,
        entries: Vec<String>,
        total: usize,
        truncated: bool,
        next: Option<Next>,
    }

    fn frame(path: &str, total: usize) -> Answer {
        Answer { path: path.into(), entries: vec![], total, truncated: false, next: Some(Next::WIDEST) }
    }

    /// The answer that a tool makes of `all`.
    fn answer(path: &str, all: &[String], offset: u64, limit: Option<u64>) -> Answer {
        let frame = frame(path, all.len());
        let page = Budget::for_frame(&frame).page(all.to_vec(), Offset::new(offset), limit.map(Limit::new)).unwrap();
        Answer { entries: page.items, truncated: page.next.is_some(), next: page.next, ..frame }
    }

    #[test]
    fn pages_join_to_the_whole() {
        let all: Vec<String> = (0..5000).map(|n| format!("entry {n} 日本")).collect();
        let (mut joined, mut offset) = (vec![], 0);
        loop {
            let page = answer("/some/where", &all, offset, None);
            let cost = json::cost(&Success::of(&page), Charset::Utf8);
            assert!(cost < OUTPUT_LIMIT && (!page.truncated || cost > OUTPUT_LIMIT - 100 - NOTICE), "{cost}");
            joined.extend(page.entries);
            let Some(next) = page.next else { break };
            offset = next.offset as u64;
        }
        assert_eq!(joined, all);
        assert_eq!(answer("", &all, 10, Some(4000)).entries.len(), 4000);
        assert_eq!(answer("", &[], 0, None).next, None);
        let beyond = Budget::for_frame(&frame("", 1)).page(all, Offset::new(5000), None);
        let beyond = beyond.unwrap_err();
        assert!(
            beyond.is(OFFSET_BEYOND_END) && beyond.message().starts_with("--offset 5000 is beyond the end"),
            "{beyond}"
        );
    }

    #[test]
    fn pages_of_a_text_join_to_the_whole() {
        let text = "entry \u{6f6e}\n".repeat(9_000);
        let total = text.chars().count();
        let budget = Budget::for_frame(&frame("", total));
        for limit in [None, Some(Limit::new(1)), Some(Limit::new(40_000))] {
            let (mut at, mut offset) = (0, total as u64 - 100);
            at += text.char_indices().nth(total - 100).unwrap().0;
            loop {
                let page = budget.page_of_text(&text, total, Offset::new(offset), limit).unwrap();
                assert_eq!(page.range.start, at);
                assert!(limit != Some(Limit::new(1)) || text[page.range.clone()].chars().count() == 1);
                at = page.range.end;
                let Some(next) = page.next else { break };
                offset = next.offset as u64;
            }
            assert_eq!(at, text.len());
        }
        let long = budget.page_of_text(&text, total, Offset::new(0), Some(Limit::new(40_000))).unwrap();
        assert_eq!(long.next, Some(Next { offset: 40_000 }));
        assert!(budget.page_of_text(&text, total, Offset::new(total as u64), None).unwrap_err().is(OFFSET_BEYOND_END));
    }

    proptest! {
        // Long lists: fewer cases keep this under a second.
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn an_answer_is_bounded_and_goes_on(
            path in ".{0,40}", all in prop::collection::vec(".{0,400}", 0..300), offset in 0..20_u64,
        ) {
            let all: Vec<String> = all;
            prop_assume!(offset == 0 || (offset as usize) < all.len());
            let page = answer(&path, &all, offset, None);
            prop_assert!(json::cost(&Success::of(&page), Charset::Utf8) < OUTPUT_LIMIT);
            prop_assert!(all.is_empty() || !page.entries.is_empty());
        }
    }

    proptest! {
        #[test]
        fn the_longest_start_that_fits(text in "(?s).{0,60}", budget in 0_usize..80, ascii: bool) {
            let charset = if ascii { Charset::Ascii } else { Charset::Utf8 };
            let fits = longest(&text, budget, charset);
            prop_assert!(printed(&text[..fits], charset) <= budget);
            if fits < text.len() {
                let more = text.ceil_char_boundary(fits + 1);
                prop_assert!(printed(&text[..more], charset) > budget);
            }
        }
    }
}
