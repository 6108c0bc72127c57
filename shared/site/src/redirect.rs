//! The reach of the requests of a run: which addresses are requested, and which redirects are followed.

use ragmaker_address::ADDRESS_NOT_ALLOWED;
use ragmaker_tool::Error;

use crate::scope::Scope;

/// The addresses that a request may be for and may be redirected to. robots.txt has to allow each of them, too.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reach<'a> {
    /// The pages of the section.
    Section(&'a Scope),
    /// Any address below the prefix of the section, whatever the caller's patterns say.
    Prefix(&'a Scope),
    /// Any address of the site: files that list pages are beside the section.
    Site,
    /// Any address of the site, and of others: what a page in the browser consists of.
    PartOfPage,
}

/// Why a redirect was not followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotFollowed {
    /// The target is outside the section, or robots.txt disallows it.
    Outside,
    /// The page has moved for good to the target, which the message is and which was fetched already.
    Seen,
    /// The same, for now: the page is still at its address.
    SeenForNow,
}

impl NotFollowed {
    /// The detail of the error that says so.
    const fn detail(self) -> &'static str {
        match self {
            Self::Outside => "outside",
            Self::Seen => "seen",
            Self::SeenForNow => "seen_for_now",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reasons_are_told_apart_and_from_other_refusals() {
        let all = [NotFollowed::Outside, NotFollowed::Seen, NotFollowed::SeenForNow];
        for reason in all {
            let error = reason.error("https://x.example/".to_owned());
            assert!(all.iter().all(|other| other.is(&error) == (*other == reason)), "{reason:?}");
            assert!(error.is_not_allowed() && error.message() == "https://x.example/");
        }
        let other = ADDRESS_NOT_ALLOWED.error("outside").detail("url", "https://x.example/");
        assert!(!all.iter().any(|reason| reason.is(&other)));
    }
}
