//! Selected members of a value, extracted during serialization.
//!
//! An answer may contain a text that is read from a file during printing and is larger than memory. So other members
//! are not serialized at all.

use std::fmt;

use serde::{
    Serialize, Serializer,
    ser::{Impossible, SerializeMap, SerializeStruct},
};
use serde_json::{Map, Value};

/// The members of `value` with one of `names`; empty if `value` is not an object.
pub(super) fn of<T: Serialize + ?Sized>(value: &T, names: &[&str]) -> Map<String, Value> {
    value.serialize(Members { names, key: None, found: Map::new() }).unwrap_or_default()
}

struct Members<'a> {
    names: &'a [&'a str],
    /// The name of the member whose value comes next.
    key: Option<String>,
    found: Map<String, Value>,
}

impl Members<'_> {
    fn take<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        if self.names.contains(&name)
            && let Ok(value) = serde_json::to_value(value)
        {
            self.found.insert(name.to_owned(), value);
        }
    }
}

impl SerializeStruct for Members<'_> {
    type Ok = Map<String, Value>;
    type Error = NotAnObject;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), NotAnObject> {
        self.take(name, value);
        Ok(())
    }

    fn end(self) -> Result<Self::Ok, NotAnObject> {
        Ok(self.found)
    }
}

/// The serializer for structs with `#[serde(flatten)]`.
impl SerializeMap for Members<'_> {
    type Ok = Map<String, Value>;
    type Error = NotAnObject;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotAnObject> {
        self.key = serde_json::to_value(key).ok().and_then(|key| Some(key.as_str()?.to_owned()));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotAnObject> {
        if let Some(key) = self.key.take() {
            self.take(&key, value);
        }
        Ok(())
    }

    fn end(self) -> Result<Self::Ok, NotAnObject> {
        Ok(self.found)
    }
}

/// The value has no members.
#[derive(Debug)]
pub(super) struct NotAnObject;

impl fmt::Display for NotAnObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value is not an object")
    }
}

impl std::error::Error for NotAnObject {}

impl serde::ser::Error for NotAnObject {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// Values without members.
macro_rules! without_members {
    ($($name:ident($($type:ty),*);)*) => {$(
        fn $name(self, $(_: $type),*) -> Result<Self::Ok, NotAnObject> {
            Err(NotAnObject)
        }
    )*};
}

/// Implements a serializer for a list or a variant.
macro_rules! without_members_in_parts {
    ($($name:ident($($type:ty),*) -> $parts:ident;)*) => {$(
        fn $name(self, $(_: $type),*) -> Result<Self::$parts, NotAnObject> {
            Err(NotAnObject)
        }
    )*};
}

impl Serializer for Members<'_> {
    type Ok = Map<String, Value>;
    type Error = NotAnObject;
    type SerializeSeq = Impossible<Self::Ok, NotAnObject>;
    type SerializeTuple = Impossible<Self::Ok, NotAnObject>;
    type SerializeTupleStruct = Impossible<Self::Ok, NotAnObject>;
    type SerializeTupleVariant = Impossible<Self::Ok, NotAnObject>;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<Self::Ok, NotAnObject>;

    without_members! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    without_members_in_parts! {
        serialize_seq(Option<usize>) -> SerializeSeq;
        serialize_tuple(usize) -> SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant;
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Self::Ok, NotAnObject> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Self::Ok, NotAnObject> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<Self::Ok, NotAnObject> {
        value.serialize(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, NotAnObject> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NotAnObject> {
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text that must not be read.
    struct Unread;

    impl Serialize for Unread {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("the content was read")
        }
    }

    #[derive(Serialize)]
    struct Part {
        size: u64,
    }

    #[derive(Serialize)]
    struct Answer {
        path: &'static str,
        content: Unread,
        #[serde(flatten)]
        part: Part,
    }

    #[test]
    fn unwanted_members_are_not_serialized() {
        let answer = Answer { path: "a", content: Unread, part: Part { size: 3 } };
        let members = of(&answer, &["size", "path", "lines"]);
        assert_eq!(Value::Object(members), serde_json::json!({"path": "a", "size": 3}));
        assert!(of(&["size"], &["size"]).is_empty());
    }
}
