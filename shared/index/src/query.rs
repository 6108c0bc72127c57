//! A query: words, phrases in quotes, and `-word` for excluded words.

use crate::tokens::{Term, Tokenizer};

/// The maximum number of terms that are used for ranking; coverage stores one bit for each.
const MAX_TERMS: usize = 64;

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query {
    /// The text without excluded words.
    pub(crate) text: String,
    /// The terms for ranking, each once, with whether it is a prefix.
    pub(crate) terms: Vec<(Term, bool)>,
    /// Phrases that a hit must contain.
    pub(crate) phrases: Vec<Phrase>,
    /// Phrases that a hit must not contain.
    pub(crate) without: Vec<Phrase>,
}

/// A sequence of words, or of characters in languages without spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// The terms that a chunk with the phrase contains, with whether each is a prefix.
    pub(crate) terms: Vec<(Term, bool)>,
    pub(crate) sequence: Vec<Term>,
}

impl Query {
    /// Parses `text`. Every text is a query; a query without words has no terms.
    pub(crate) fn parse(text: &str, tokenizer: &mut Tokenizer) -> Self {
        let mut query = Self::default();
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
            let at_word = &rest[start..];
            let excluded =
                at_word.strip_prefix('-').filter(|word| word.starts_with(|c: char| is_quote(c) || c.is_alphanumeric()));
            let word = excluded.unwrap_or(at_word);
            let quoted = word.strip_prefix(is_quote).and_then(|inner| inner.split_once(is_quote));
            let (part, after) = match quoted {
                Some((inner, after)) => (inner, after),
                // A quote inside a word ends the word: `a"b c"` is a word and a phrase.
                None => word.split_at(
                    word.char_indices()
                        .skip(1)
                        .find(|(_, c)| c.is_whitespace() || is_quote(*c))
                        .map_or(word.len(), |(at, _)| at),
                ),
            };
            rest = after;
            let terms = tokenizer.wanted(part);
            if terms.is_empty() {
                continue;
            }
            let mut phrase = || Phrase { terms: terms.clone(), sequence: tokenizer.sequence(part) };
            if excluded.is_some() {
                query.without.push(phrase());
                continue;
            }
            query.text = [query.text.as_str(), part].join(if query.text.is_empty() { "" } else { " " });
            if quoted.is_some() {
                query.phrases.push(phrase());
            }
            for term in terms {
                if query.terms.len() < MAX_TERMS && !query.terms.contains(&term) {
                    query.terms.push(term);
                }
            }
        }
        query
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '＂')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> (usize, usize, usize) {
        let query = Query::parse(text, &mut Tokenizer::new());
        (query.terms.len(), query.phrases.len(), query.without.len())
    }

    #[test]
    fn words_phrases_and_exclusions() {
        assert_eq!(parse("spring tide"), (2, 0, 0));
        assert_eq!(parse("\"spring tide\" -neap"), (2, 1, 1));
        assert_eq!(parse("tide -\"low water\" well-known"), (3, 0, 1));
        assert_eq!(parse("\"open"), (1, 0, 0));
        assert_eq!(parse("  - \"\" -- "), (0, 0, 0));
        assert_eq!(parse("“潮の満ち引き” 税"), (9, 1, 0));
    }

    proptest! {
        #[test]
        fn every_text_is_a_query(text in "[\"“” \\-a潮か\\PC]{0,40}") {
            let query = Query::parse(&text, &mut Tokenizer::new());
            prop_assert!(query.terms.len() <= MAX_TERMS);
        }
    }
}
