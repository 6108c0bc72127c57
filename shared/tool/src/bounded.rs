//! Integers with bounds, which the parser, the help and the schema share.

use std::{borrow::Cow, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

/// An integer from `MIN` to `MAX`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Bounded<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Bounded<MIN, MAX> {
    /// `value` if it is within the bounds. A constant outside the bounds does not compile.
    ///
    /// # Panics
    ///
    /// Where `value` is outside them and not a constant.
    pub const fn new(value: u64) -> Self {
        assert!(MIN <= value && value <= MAX, "the value is within its bounds");
        Self(value)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number as an index or a count; `usize::MAX` if it does not fit.
    pub fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl<const MIN: u64, const MAX: u64> FromStr for Bounded<MIN, MAX> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().parse() {
            Ok(value) if (MIN..=MAX).contains(&value) => Ok(Self(value)),
            _ if MAX == u64::MAX => Err(format!("expected a whole number of at least {MIN}")),
            _ => Err(format!("expected a whole number from {MIN} to {MAX}")),
        }
    }
}

impl<const MIN: u64, const MAX: u64> JsonSchema for Bounded<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Bounded_{MIN}_{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = json_schema!({"type": "integer", "minimum": MIN});
        if MAX != u64::MAX {
            schema.insert("maximum".into(), MAX.into());
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold() {
        assert_eq!("600".parse::<Bounded<1, 600>>().unwrap().get(), 600);
        for bad in ["0", "601", "-1", "1.5", "", "x", "99999999999999999999"] {
            assert_eq!(bad.parse::<Bounded<1, 600>>().unwrap_err(), "expected a whole number from 1 to 600");
        }
        assert!("-1".parse::<Bounded<0, { u64::MAX }>>().unwrap_err().ends_with("of at least 0"));
    }
}
