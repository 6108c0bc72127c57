//! Hints: what classes, ids, roles, short texts and addresses suggest about the purpose of an element.
//!
//! A hint is a feature like others, and the model weighs it. Names of elements are English in pages of all languages;
//! the words of short texts are in a few languages. The lists are in `lists/`. The order of their lines is the order of
//! the features with which `weights.bin` was trained.

use foldhash::HashMap;

use super::lexicon::Lexicon;
use crate::{
    tag::{Attr, Tag},
    tree::{Id, Tree},
};

/// A set of hints, one bit each.
pub(super) type Hints = u64;

/// The words of names.
static NAMES: Lexicon<1024> = Lexicon::new(include_str!("lists/names.txt"));

/// The words of short texts around content.
static PHRASES: Lexicon<512> = Lexicon::new(include_str!("lists/phrases.txt"));

/// The words of addresses.
static PATHS: Lexicon<256> = Lexicon::new(include_str!("lists/paths.txt"));

/// How many hints there are: those of names, and those of tags and roles.
pub(super) const HINTS: usize = NAMES_LISTS + STRUCTURAL;

/// How many lists of words each file has.
const NAMES_LISTS: usize = 30;
pub(super) const PHRASE_KINDS: usize = 10;
const PATH_KINDS: usize = 7;
const _: () = assert!(NAMES.lists() == NAMES_LISTS && PHRASES.lists() == PHRASE_KINDS && PATHS.lists() == PATH_KINDS);

/// How many hints are of tags and roles.
const STRUCTURAL: usize = 12;

/// The bits of the hints that are asked for by themselves.
pub(super) mod bit {
    use super::NAMES_LISTS;

    pub(in crate::extract) const RELATED: usize = 6;
    pub(in crate::extract) const COMMENTS: usize = 7;
    pub(in crate::extract) const ARTICLE_NAME: usize = 22;
    pub(in crate::extract) const PRODUCT: usize = 23;
    pub(in crate::extract) const MESSAGE: usize = 25;
    pub(in crate::extract) const LISTING: usize = 26;
    pub(in crate::extract) const REVIEW: usize = 27;
    pub(in crate::extract) const SECTION: usize = 28;
    pub(in crate::extract) const MAIN: usize = NAMES_LISTS + 4;
    pub(in crate::extract) const ARTICLE: usize = NAMES_LISTS + 5;
    pub(in crate::extract) const HIDDEN: usize = NAMES_LISTS + 7;
}

/// The hint that an element is hidden.
pub(super) const HIDDEN: Hints = 1 << bit::HIDDEN;

/// The hints of one element's names, tag and role; `cache` has those of the names that were seen before.
pub(super) fn of_element<'t>(tree: &'t Tree, id: Id, cache: &mut HashMap<&'t str, Hints>) -> Hints {
    let mut hints = 0;
    for name in [Attr::Class, Attr::Id, Attr::Itemprop, Attr::DataTestid, Attr::AriaLabel] {
        if let Some(value) = tree.attr(id, name) {
            hints |= *cache.entry(value).or_insert_with(|| of_names(value));
        }
    }
    let role = tree.attr(id, Attr::Role).unwrap_or_default();
    let tag = tree.tag(id);
    let structural: [bool; STRUCTURAL] = [
        tag == Tag::Nav || matches!(role, "navigation" | "menu" | "menubar" | "tablist" | "toolbar"),
        tag == Tag::Header || role == "banner",
        tag == Tag::Footer || role == "contentinfo",
        tag == Tag::Aside || role == "complementary",
        tag == Tag::Main || role == "main",
        tag == Tag::Article || role == "article",
        tag == Tag::Form || tag == Tag::Fieldset || tag == Tag::Search || role == "search",
        tree.node(id).hidden,
        tree.node(id).aria_hidden,
        tag == Tag::Noscript,
        matches!(tag, Tag::Button | Tag::Label | Tag::Legend | Tag::Summary),
        tag == Tag::Dialog || matches!(role, "dialog" | "alertdialog" | "alert"),
    ];
    for (at, set) in structural.into_iter().enumerate() {
        hints |= u64::from(set) << (NAMES_LISTS + at);
    }
    hints
}

/// The hints of a class list or an id.
pub(super) fn of_names(names: &str) -> Hints {
    let mut hints = 0;
    each_word(names, |word| hints |= NAMES.lists_of(word));
    hints
}

/// The words that a class list or an id is made of, in lower case; single letters are left out.
pub(super) fn each_word(names: &str, mut put: impl FnMut(&[u8])) {
    const MAX_WORD: usize = 24;
    let names = names.as_bytes();
    let mut put_lower = |word: &[u8]| {
        let mut lower = [0; MAX_WORD];
        let lower = &mut lower[..word.len().min(MAX_WORD)];
        lower.copy_from_slice(&word[..lower.len()]);
        lower.make_ascii_lowercase();
        put(lower);
    };
    let mut start = 0;
    for at in 0..=names.len() {
        let b = names.get(at).copied().unwrap_or(b' ');
        let is_letter = b.is_ascii_alphabetic();
        if is_letter && !(b.is_ascii_uppercase() && at > 0 && names[at - 1].is_ascii_lowercase()) {
            continue;
        }
        if at > start + 1 {
            put_lower(&names[start..at]);
        }
        start = if is_letter { at } else { at + 1 };
    }
}

/// The kinds of phrase that a text begins with words of, one bit each.
pub(super) fn of_text(text: &str) -> u16 {
    /// How many words are read.
    const READ: usize = 16;
    /// No ASCII word in the lists is longer.
    const MAX_WORD: usize = 16;
    if text.is_ascii() {
        let words = text.as_bytes().split(|b| !b.is_ascii_alphanumeric());
        let mut lower = [0; MAX_WORD];
        return words.filter(|word| word.len() > 2).take(READ).fold(0, |kinds, word| {
            let Some(lower) = lower.get_mut(..word.len()) else { return kinds };
            lower.copy_from_slice(word);
            lower.make_ascii_lowercase();
            kinds | PHRASES.lists_of(lower) as u16
        });
    }
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).take(READ);
    words.fold(0, |kinds, word| kinds | PHRASES.lists_of(word.to_lowercase().as_bytes()) as u16)
}

/// How many features an address has.
const ADDRESS: usize = PATH_KINDS + 4;

/// The features of a URL: its kinds of words, its depth, the hyphens and digits of its last part, and whether
/// it has a query. All are -1 without a URL.
pub(super) fn of_address(address: Option<&url::Url>) -> [f32; ADDRESS] {
    let Some(address) = address else { return [-1.0; ADDRESS] };
    let mut numbers = [0.0; ADDRESS];
    let path = address.path().to_ascii_lowercase();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let host = address.host_str().unwrap_or_default();
    let words = parts.iter().flat_map(|part| part.split(['-', '_', '.'])).chain(host.split('.'));
    let kinds = words.fold(0, |kinds, word| kinds | PATHS.lists_of(word.as_bytes()));
    for (kind, number) in numbers[..PATH_KINDS].iter_mut().enumerate() {
        *number = f32::from(u8::from(kinds >> kind & 1 == 1));
    }
    let last = parts.last().copied().unwrap_or_default();
    numbers[PATH_KINDS] = parts.len() as f32;
    numbers[PATH_KINDS + 1] = last.matches(['-', '_']).count() as f32;
    numbers[PATH_KINDS + 2] = last.bytes().filter(u8::is_ascii_digit).count() as f32;
    numbers[PATH_KINDS + 3] = f32::from(u8::from(address.query().is_some()));
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(names: &str) -> Vec<String> {
        let mut words = vec![];
        each_word(names, |word| words.push(String::from_utf8(word.to_vec()).unwrap()));
        words
    }

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(words("site-navBar main_content x2 HTML"), ["site", "nav", "bar", "main", "content", "html"]);
        assert_eq!(words(&"a".repeat(40)), ["a".repeat(24)]);
    }

    #[test]
    fn tags_roles_and_names_give_hints() {
        let tree = Tree::parse("<main class=product-page><p hidden>x", None);
        let hints = |id| of_element(&tree, id, &mut HashMap::default());
        assert_eq!(hints(1) >> bit::MAIN & 1, 1);
        assert_eq!(hints(1) >> bit::PRODUCT & 1, 1);
        assert_eq!(hints(2), HIDDEN);
        assert_eq!(of_names("related comments"), 1 << bit::RELATED | 1 << bit::COMMENTS);
    }

    #[test]
    fn short_texts_are_of_kinds_in_any_case_and_script() {
        assert_eq!(of_text("Log in or REGISTER"), 1 << 2);
        assert_eq!(of_text("プライバシー"), 1);
        assert_eq!(of_text("High water twice a day"), 0);
    }

    #[test]
    fn an_address_has_words_depth_and_query() {
        let address = |url: &str| of_address(url::Url::parse(url).ok().as_ref());
        let [product, collection, .., depth, hyphens, digits, query] =
            address("https://x.example/shop/p/red-boat-42?a");
        assert_eq!((product, collection, depth, hyphens, digits, query), (1.0, 1.0, 3.0, 2.0, 2.0, 1.0));
        assert_eq!(of_address(None).to_vec(), vec![-1.0; ADDRESS]);
    }
}
