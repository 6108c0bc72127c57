//! Redirects that are not followed: the error of the request.

use ragmaker_address::ADDRESS_NOT_ALLOWED;
use ragmaker_tool::Error;

/// The reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotFollowed {
    /// The target is outside the section, or robots.txt disallows it.
    Outside,
    /// The target, which the message is, was fetched already.
    Seen,
}

impl NotFollowed {
    /// The detail of the error that says so.
    const fn detail(self) -> &'static str {
        match self {
            Self::Outside => "outside",
            Self::Seen => "seen",
        }
    }

    pub(crate) fn error(self, message: String) -> Error {
        ADDRESS_NOT_ALLOWED.error(message).detail(self.detail(), true)
    }

    /// Whether `error` says so.
    pub(crate) fn is(self, error: &Error) -> bool {
        error.details().contains_key(self.detail())
    }
}
