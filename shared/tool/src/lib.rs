//! The contract that every ragmaker tool keeps: arguments in, one JSON value out, errors with codes.
//!
//! A tool is a type: its fields are its arguments ([`argh`]), its [`Tool::run`] is its work, its
//! [`Tool::Answer`] is what it prints. This crate alone decides how anything is printed, which exit
//! status it has ([`Exit`]), how arguments may be spelled ([`arguments`]) and how a tool is
//! described to agents ([`describe`]). It knows nothing of files, browsers or catalogs.

pub mod arguments;
pub mod describe;
mod error;
pub mod json;
mod run;
#[cfg(test)]
mod testing;
mod within;

pub use arguments::choice;
pub use describe::Annotations;
pub use error::{ARGUMENT_ERROR, Code, Error, INTERNAL_ERROR, OFFSET_BEYOND_END, OUTPUT_ERROR};
pub use run::{Answered, Exit, call, main, main_with};
pub use within::Within;

// What a tool's types derive, so that a tool names one crate for its contract.
pub use schemars::JsonSchema;

/// The most characters that a tool prints by default.
///
/// Clients cut longer results in the middle, which breaks the JSON: a tool stops earlier by itself
/// and says how to get the rest.
pub const OUTPUT_LIMIT: usize = 29_000;

/// A command-line tool: the implementing type's fields are its arguments.
pub trait Tool: argh::FromArgs + argh::ArgsInfo + serde::Serialize + JsonSchema {
    /// What the tool prints on success, next to `"status": "success"`.
    type Answer: serde::Serialize + JsonSchema;
    /// The name of the executable: `env!("CARGO_PKG_NAME")`.
    const NAME: &'static str;
    /// The version of the executable: `env!("CARGO_PKG_VERSION")`.
    const VERSION: &'static str;
    /// What a client may assume of a call.
    const ANNOTATIONS: Annotations;
    /// Every code that [`Tool::run`] can fail with, [`ARGUMENT_ERROR`] and its like aside.
    const ERRORS: &'static [Code];
    /// The options whose value is JSON text, as `--updates`: among arguments that come as JSON, such a
    /// value may stand as it is.
    const JSON_TEXTS: &'static [&'static str] = &[];
    /// Does the work.
    fn run(self) -> Result<Self::Answer, Error>;
    /// What is printed in the place of JSON, where the caller asked for the bare text.
    fn plain(_answer: &Self::Answer) -> Option<&str> {
        None
    }
}
