//! API keys, and their removal from texts.

use std::fmt;

use memchr::memmem;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::key_forms;

/// A key, which no debug output shows.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The key with this value; empty for endpoints without keys.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into().trim().to_owned())
    }

    /// Whether the key is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself, for the request that sends it.
    pub fn value(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "no key" } else { "[key]" })
    }
}

/// Characters that stay unescaped in the query of a URL.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Shorter values are not keys, and blanking them would make texts unreadable.
const SHORTEST: usize = 6;
/// A value of letters or of digits alone that is shorter is a word or a number, such as `postgres`, `password`, `ollama`
/// or `123456`. Development settings use those, and texts and paths contain them with another meaning.
const SHORTEST_WORD: usize = 12;

/// Names of headers and parameters whose values are not secret.
const PUBLIC_NAMES: [&str; 12] = [
    "accept",
    "alt",
    "anthropic-beta",
    "anthropic-version",
    "api-version",
    "content-type",
    "http-referer",
    "openai-organization",
    "openai-project",
    "referer",
    "user-agent",
    "x-title",
];

/// The keys that no text may contain: endpoints quote them in their errors.
#[derive(Clone, Default)]
pub struct Redactor(Vec<String>);

impl Redactor {
    /// Adds a key.
    pub fn add(&mut self, key: &str) {
        // `Bearer abc` is two words, of which the second is the key.
        for part in [key.trim(), key.split_whitespace().last().unwrap_or_default()] {
            if part.len() >= SHORTEST && !self.0.iter().any(|known| known == part) {
                self.0.push(part.to_owned());
            }
        }
        // What contains another comes first.
        self.0.sort_by_key(|key| std::cmp::Reverse(key.len()));
    }

    /// Adds the value of a variable whose name is that of a key or password, unless it is a word or a number.
    pub fn add_variable(&mut self, value: &str) {
        // Of an address, the password is enough.
        if value.contains("://") {
            self.add_url(value);
        } else if !is_word(value.trim()) {
            self.add(value);
        }
    }

    /// Adds the keys in `text`, of which the form alone says that they are keys.
    pub fn learn(&mut self, text: &str) {
        for key in key_forms::keys(text) {
            self.add(key);
        }
    }

    /// Adds the values of headers or of a URL's parameters, unless their names show that they are not keys.
    pub fn add_pairs(&mut self, pairs: &[(String, String)]) {
        for (name, value) in pairs {
            if !PUBLIC_NAMES.contains(&name.to_ascii_lowercase().as_str()) {
                self.add(value);
            }
        }
    }

    /// Adds what an address contains of a user, a password, or parameters.
    pub fn add_url(&mut self, url: &str) {
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        if let Some((user, _)) = address.split_once("://").and_then(|(_, rest)| rest.split_once('@')) {
            user.split(':').filter(|part| !is_word(part)).for_each(|part| self.add(part));
        }
        let parameters = query.split('&').filter_map(|parameter| parameter.split_once('='));
        self.add_pairs(&parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<Vec<_>>());
    }

    /// `text` without the keys, also in the forms in which a URL and a string in JSON escape them.
    pub fn redacted(&self, text: &str) -> String {
        // A key is whole characters, so what is left is UTF-8 as well.
        String::from_utf8_lossy(&self.redacted_bytes(text.as_bytes())).into_owned()
    }

    /// The length of the longest key in any of its spellings.
    pub fn longest(&self) -> usize {
        self.0.iter().flat_map(|key| spellings(key)).map(|key| key.len()).max().unwrap_or(0)
    }

    /// `bytes` without the keys.
    pub fn redacted_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for spelling in self.0.iter().flat_map(|key| spellings(key)) {
            let found: Vec<_> = memmem::find_iter(&bytes, spelling.as_bytes()).collect();
            if found.is_empty() {
                continue;
            }
            let (mut without, mut end) = (Vec::with_capacity(bytes.len()), 0);
            for at in found {
                without.extend_from_slice(&bytes[end..at]);
                without.extend_from_slice(b"[key]");
                end = at + spelling.len();
            }
            without.extend_from_slice(&bytes[end..]);
            bytes = without;
        }
        bytes
    }
}

/// Whether a value is a word or a number, and no key.
fn is_word(value: &str) -> bool {
    value.len() < SHORTEST_WORD
        && (value.bytes().all(|byte| byte.is_ascii_alphabetic()) || value.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A key as a string in JSON escapes it, as a URL escapes it, and as it is, each once.
fn spellings(key: &str) -> Vec<String> {
    let json = serde_json::Value::from(key).to_string();
    // The key itself is last: `key\` is the start of `key\\`, whose rest would escape the end of the string.
    let mut spellings = vec![json[1..json.len() - 1].to_owned(), utf8_percent_encode(key, UNRESERVED).to_string()];
    spellings.push(key.to_owned());
    spellings.dedup();
    spellings
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_redacted_wherever_they_stand() {
        let mut redactor = Redactor::default();
        redactor.add("sk-12345");
        redactor.add("sk-1234567");
        redactor.add("");
        let pairs = [("Authorization", "Bearer abc/def"), ("api-version", "2024-10-21"), ("x", "tiny")];
        redactor.add_pairs(&pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        redactor.add_url("https://user1:hunter2@host/v1?api-version=2024-10-21&sig=signature");
        assert_eq!(redactor.redacted("hunter2 at host: signature"), "[key] at host: [key]");
        let text = "sk-1234567 sk-12345 abc/def ?k=abc%2Fdef 2024-10-21 tiny";
        assert_eq!(redactor.redacted_bytes(text.as_bytes()), redactor.redacted(text).into_bytes());
        assert_eq!(redactor.redacted_bytes(b"\xff sk-12345\xff"), b"\xff [key]\xff");
        assert!(redactor.longest() >= "hunter2".len());
        assert_eq!(redactor.redacted(text), "[key] [key] [key] ?k=[key] 2024-10-21 tiny");
        assert!(!format!("{redactor:?} {:?}", Key::new("sk-12345")).contains("123"));
    }

    #[test]
    fn keys_are_redacted_in_json() {
        for key in ["p\"ss\\word", "hunter2\\"] {
            let mut redactor = Redactor::default();
            redactor.add(key);
            let text = serde_json::json!({"content": format!("PASSWORD={key}")}).to_string();
            assert_eq!(redactor.redacted(&text), r#"{"content":"PASSWORD=[key]"}"#);
            assert_eq!(redactor.redacted(key), "[key]");
        }
    }

    #[test]
    fn words_and_numbers_of_development_settings_are_not_keys() {
        let mut redactor = Redactor::default();
        for value in ["postgres", "password", "ollama", "12345678", "postgres://postgres:secret@db/app"] {
            redactor.add_variable(value);
        }
        let text = "image: postgres:17 # password of ollama, 12345678, secret";
        assert_eq!(redactor.redacted(text), text);
        for value in ["hunter2", "correct-horse", "abcdefghijklmnop", "postgres://app:p4ssword@db/app"] {
            redactor.add_variable(value);
        }
        let text = "hunter2 correct-horse abcdefghijklmnop p4ssword";
        assert_eq!(redactor.redacted(text), "[key] [key] [key] [key]");
    }
}
