//! The contract that every ragmaker tool keeps: arguments in, one JSON value out, errors with codes.
//!
//! A tool is a type. Its fields are its arguments ([`argh`]), [`Tool::run`] does its work, and [`Tool::Answer`] is its
//! output. This crate decides for all tools how output is printed, which exit status is returned ([`Exit`]), how
//! arguments may be spelled ([`arguments`]), how much an answer may contain ([`budget`]), which options only a host may
//! set ([`host`]) and how a tool is described to agents ([`describe`]). It does not depend on files, browsers or
//! catalogs.

pub mod arguments;
mod bounded;
pub mod budget;
pub mod describe;
mod error;
pub mod host;
pub mod json;
mod log;
mod manual;
mod printable;
mod run;
mod spelling;
#[cfg(test)]
mod testing;
mod usage;

pub use arguments::choice;
pub use bounded::Bounded;
pub use budget::{Budget, Limit, ListPage, Next, NextWithin, Offset, TextPage, beyond_end};
pub use describe::{Annotations, ContentOrigin, Isolation, Stdin, ToolProfile};
pub use error::{ARGUMENT_ERROR, Code, Error, INTERNAL_ERROR, OFFSET_BEYOND_END, OUTPUT_ERROR, SELECTOR_NOT_FOUND};
pub use host::{
    Approval, COMMAND_BLOCKED, Caller, DENIED_BY_USER, HostOptions, Invocation, NEEDS_APPROVAL,
    NOT_ALLOWED_IN_ARGUMENTS,
};
pub use manual::{Manual, Spelling};
pub use printable::{counted, printable};
pub use run::{Exit, Success, call, call_approved, main, main_with};
pub use spelling::{Commands, HOSTS};
pub use usage::{Flag, Usage, Word, placeholder};

// What a tool's types derive, so that a tool names one crate for its contract.
pub use schemars::{self, JsonSchema};

/// Less than this many characters are printed by default.
///
/// Clients cut longer results in the middle, which breaks the JSON: a tool stops earlier by itself
/// and says how to get the rest.
pub const OUTPUT_LIMIT: usize = 29_000;

/// A command-line tool: the implementing type's fields are its arguments.
pub trait Tool: argh::FromArgs + argh::ArgsInfo + serde::Serialize + JsonSchema {
    /// The answer of the tool on success; `"status": "success"` is added when it is printed.
    type Answer: serde::Serialize + JsonSchema;
    /// The name of the executable: `env!("CARGO_PKG_NAME")`.
    const NAME: &'static str;
    /// The version of the executable: `env!("CARGO_PKG_VERSION")`.
    const VERSION: &'static str;
    /// The properties of a call that a client may rely on.
    const ANNOTATIONS: Annotations;
    /// Every code that [`Tool::run`] can fail with, in groups; those of every tool aside.
    const ERRORS: &'static [&'static [Code]];
    /// The flags of [`HostOptions`] that the tool takes.
    const HOST_OPTIONS: &'static [&'static str] = &[];
    /// How a host runs the tool.
    const ISOLATION: Isolation = Isolation::InProcess;
    /// The author of the text in the answer.
    const ORIGIN: ContentOrigin = ContentOrigin::Trusted;
    /// The argument in whose place the executable can read standard input.
    const STDIN: Option<Stdin> = None;
    /// The profiles that the tool belongs to.
    const PROFILES: &'static [ToolProfile] = &[];
    /// Whether the tool runs commands. A host offers such a tool only if a person configured that.
    const RUNS_COMMANDS: bool = false;
    /// Other names that hosts accept for the tool, in kebab case.
    const ALIASES: &'static [&'static str] = &[];
    /// The options that words without a flag give, in their order, such as `--pattern` and `--path`. The last of them takes
    /// all further words if it may be repeated. Only a command line has words. A tool that can destroy data has at most
    /// one, which may not be repeated.
    const OPERANDS: &'static [&'static str] = &[];
    /// The options whose value is JSON text, such as `--updates`. In JSON arguments, such a value may also be written
    /// as JSON instead of a string with JSON.
    const JSON_TEXTS: &'static [&'static str] = &[];
    /// The flags that only a command line has: those of [`Tool::stream`], and those for people. Schemas do not show
    /// them, and JSON arguments cannot set them.
    const COMMAND_LINE_FLAGS: &'static [&'static str] = &[];
    /// Does the work.
    ///
    /// # Errors
    ///
    /// Those of [`Tool::ERRORS`].
    fn run(self, invocation: &Invocation) -> Result<Self::Answer, Error>;
    /// Reads or writes a stream in place of one value, where the flags ask for it: the work is done then.
    ///
    /// # Errors
    ///
    /// Those of [`Tool::ERRORS`]. What was written before stays written.
    fn stream(&self, _invocation: &Invocation) -> Option<Result<(), Error>> {
        None
    }
    /// Work that continues after the answer was printed, until the process is ended: for a server that a person asked
    /// for. Only the tool's own executable calls this function, never a host.
    fn remain(_answer: Self::Answer) {}
    /// The number of lines of the file that the answer is about, for the log; without it, the log counts them.
    fn lines(_answer: &Self::Answer) -> Option<u64> {
        None
    }
    /// The text that is printed instead of JSON, if the caller asked for it.
    fn plain(_answer: &Self::Answer) -> Option<&str> {
        None
    }
}
