//! The signals that end the program.

use ragmaker_model::CANCELLED;
use ragmaker_tool::Error;

/// A signal that ends the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signal(pub(crate) i32);

impl Signal {
    /// SIGINT: Ctrl-C, also where an editor reads it as a key.
    pub(crate) const INTERRUPT: Self = Self(2);

    /// The exit status by the convention of shells.
    pub(crate) fn status(self) -> u8 {
        u8::try_from(128 + self.0).unwrap_or(u8::MAX)
    }

    /// The end of the run by this signal.
    pub(crate) fn error(self) -> Error {
        let name = match self.0 {
            1 => "SIGHUP",
            2 => "SIGINT",
            _ => "SIGTERM",
        };
        CANCELLED.error(format!("the run was ended by {name}"))
    }
}
