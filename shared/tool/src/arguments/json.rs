//! A JSON object as the arguments of a call.

use std::{
    collections::HashSet,
    fmt,
    io::{self, Read},
};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;

use super::names::repeated;
use crate::{ARGUMENT_ERROR, Error, spelling::field_name};

/// The maximum size in bytes of JSON that is read from standard input.
const MAX_JSON: u64 = 64 << 20;

/// The members of a JSON object, every one: two of them may be spellings of one argument.
pub type Members = Vec<(String, Value)>;

/// The JSON object in `text`, or on standard input for `-`. A byte order mark and UTF-16, which
/// PowerShell's `>` writes, are accepted.
///
/// # Errors
///
/// [`ARGUMENT_ERROR`] where it is not one JSON object.
pub fn read_json(text: &str) -> Result<Members, Error> {
    let fail = |reason: String| {
        ARGUMENT_ERROR
            .error(format!("the arguments are not a JSON object: {reason}"))
            .remedy("Write an object with the arguments as keys, such as {\"path\": \"a b.md\"}.")
            .detail("argument", "--arguments")
    };
    let mut bytes = vec![];
    if text == "-" {
        io::stdin().take(MAX_JSON).read_to_end(&mut bytes).map_err(|error| fail(error.to_string()))?;
    } else {
        bytes.extend_from_slice(text.as_bytes());
    }
    let text = match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => String::from_utf8(bytes).ok(),
    };
    // Invalid bytes are not replaced: they may be part of a path or of the content of a file.
    let text = text.ok_or_else(|| fail("they are not UTF-8".to_owned()))?;
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(vec![]);
    }
    check_keys(text.as_bytes())?;
    let mut json = serde_json::Deserializer::from_str(text);
    let members = json.deserialize_map(MembersVisitor).and_then(|members| json.end().map(|()| members));
    members.map_err(|error| fail(error.to_string()))
}

/// Refuses JSON in which an object has a duplicate key, at any depth: parsers keep only the last of such members. Text
/// that is not JSON is accepted here; its parser reports the error.
///
/// # Errors
///
/// [`ARGUMENT_ERROR`] with the key, spelled as arguments are.
pub fn check_keys(json: &[u8]) -> Result<(), Error> {
    let mut twice = None;
    let _ = UniqueKeysVisitor(&mut twice).deserialize(&mut serde_json::Deserializer::from_slice(json));
    twice.map_or(Ok(()), |key| Err(repeated(&field_name(&key))))
}

/// Visits a value whose objects have each key once, and notes the first that an object has twice.
struct UniqueKeysVisitor<'a>(&'a mut Option<String>);

impl<'de> DeserializeSeed<'de> for UniqueKeysVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeysVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = object.next_key::<String>()? {
            if keys.contains(&key) {
                *self.0 = Some(key);
                return Err(A::Error::custom("a key occurs twice"));
            }
            keys.insert(key);
            object.next_value_seed(UniqueKeysVisitor(self.0))?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        while array.next_element_seed(UniqueKeysVisitor(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut members = vec![];
        while let Some(member) = object.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let units: Vec<u16> = bytes.as_chunks().0.iter().map(|&pair| unit(pair)).collect();
    String::from_utf16(&units).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_in_their_order() {
        let members = read_json("\u{feff}{\"b\": 1, \"a\": [\"x\"]}").unwrap();
        assert_eq!(members.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(read_json("  \n").unwrap(), []);
    }

    #[test]
    fn what_is_not_one_object_is_refused() {
        for text in ["[]", "1", "{", "{} {}", "{\"a\": }", "null"] {
            let error = read_json(text).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR), "{text}: {error}");
            assert!(error.message().starts_with("the arguments are not a JSON object"), "{text}: {error}");
        }
    }

    #[test]
    fn a_key_that_occurs_twice_is_found_at_any_depth() {
        for text in ["{\"a\": 1, \"a\": 2}", "{\"x\": [{\"b\": {\"a\": 1, \"c\": 0, \"a\": 1}}]}"] {
            let error = check_keys(text.as_bytes()).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.message().contains('a'), "{text}: {error}");
        }
        for text in ["{\"a\": {\"a\": 1}, \"b\": [{\"a\": 1}, {\"a\": 2.5}]}", "not JSON", "[true, null, -1, \"s\"]"] {
            assert!(check_keys(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn powershell_s_utf_16_is_read() {
        let bytes: Vec<u8> = "{\"a\"".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(utf16(&bytes, u16::from_le_bytes).as_deref(), Some("{\"a\""));
        assert_eq!(utf16(&[0xd8, 0x00], u16::from_be_bytes), None, "half of a pair");
    }
}
