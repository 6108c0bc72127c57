//! The values of expressions, as far as they are known.

use super::super::words::{UNKNOWN, WEB};

/// The longest text that is computed, in bytes. It is that of a path.
const MAX_TEXT: usize = 4_096;

/// The most elements of a list.
const MAX_ELEMENTS: usize = 100;

/// The value of an expression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Value {
    /// One text, or the elements of a list. An unknown text is [`UNKNOWN`].
    pub(super) texts: Vec<String>,
    /// The module, the class or the function that it is, such as `os.system`.
    pub(super) name: Option<String>,
}

impl Value {
    pub(super) fn text(text: String) -> Self {
        Self { texts: vec![text], name: None }
    }

    pub(super) fn unknown() -> Self {
        Self::text(UNKNOWN.to_string())
    }

    /// An unknown value that comes from the web.
    pub(super) fn of_web() -> Self {
        Self::text(format!("{UNKNOWN}{WEB}"))
    }

    pub(super) fn named(name: String) -> Self {
        Self { name: Some(name), ..Self::unknown() }
    }

    /// Whether it is one known text.
    pub(super) fn is_text(&self) -> bool {
        self.name.is_none() && self.texts.len() == 1 && self.texts[0] != UNKNOWN.to_string()
    }

    /// Whether it comes from the web.
    pub(super) fn is_of_web(&self) -> bool {
        self.texts.iter().any(|text| text.contains(WEB))
    }

    /// A property or the result of a method of the value: unknown, but from the web if the value is.
    pub(super) fn derived(&self) -> Self {
        if self.is_of_web() { Self::of_web() } else { Self::unknown() }
    }

    /// A list, or one text.
    pub(super) fn list(texts: impl IntoIterator<Item = String>) -> Self {
        Self { texts: texts.into_iter().take(MAX_ELEMENTS).collect(), name: None }
    }

    /// The value with `between` and another value after it; lists follow one another.
    pub(super) fn joined(self, other: Self, between: &str) -> Self {
        match (self.texts.as_slice(), other.texts.as_slice()) {
            ([one], [next]) if one.len() + next.len() <= MAX_TEXT => Self::text(format!("{one}{between}{next}")),
            ([_], [_]) => self.derived(),
            _ => Self::list(self.texts.into_iter().chain(other.texts)),
        }
    }

    /// The text with `values` in place of the `places`, one after the other.
    pub(super) fn formatted(mut self, places: &[&str], values: &[String]) -> Self {
        let Some(text) = self.texts.first_mut() else { return self };
        for value in values {
            let first = places.iter().filter_map(|place| Some((text.find(place)?, place.len()))).min();
            let Some((at, length)) = first.filter(|_| text.len() + value.len() <= MAX_TEXT) else { break };
            text.replace_range(at..at + length, value);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::text(text.to_owned())
    }

    #[test]
    fn two_texts_are_joined_and_lists_follow_one_another() {
        let list = || Value::list(["a", "b"].map(str::to_owned));
        assert_eq!(text("a").joined(text("b"), "/"), text("a/b"));
        assert_eq!(list().joined(text("c"), "/").texts, ["a", "b", "c"]);
        assert_eq!(Value::default().joined(text("a"), "/"), text("a"));
        assert!(text("a").is_text() && !list().is_text());
        assert!(!Value::unknown().is_text() && !Value::named("os".to_owned()).is_text());
    }

    #[test]
    fn a_text_that_is_too_long_is_unknown_and_stays_of_the_web() {
        let long = || text(&"a".repeat(MAX_TEXT));
        assert_eq!(long().joined(text(""), ""), long());
        assert_eq!(long().joined(text("b"), ""), Value::unknown());
        let of_web = Value::of_web().joined(long(), "");
        assert!(of_web.is_of_web() && of_web.texts[0].len() < MAX_TEXT);
        assert_eq!(Value::list(vec![String::new(); MAX_ELEMENTS + 1]).texts.len(), MAX_ELEMENTS);
        // Each value replaces one place, so the text would double with each.
        let doubling = vec!["{}{}".repeat(500); 40];
        assert!(text("{}").formatted(&["{}"], &doubling).texts[0].len() <= MAX_TEXT);
    }

    #[test]
    fn values_replace_the_first_place_that_is_left() {
        let values = ["a", "b"].map(str::to_owned);
        assert_eq!(text("%s/%d%s").formatted(&["%s", "%d"], &values), text("a/b%s"));
        assert_eq!(text("none").formatted(&["%s"], &values), text("none"));
        assert_eq!(Value::default().formatted(&["%s"], &values), Value::default());
    }
}
