//! Browser kinds: Chromium, or Firefox if `RAGMAKER_BROWSER` selects it.

use std::env;

use ragmaker_project::variables::BROWSER;
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde::{Deserialize, Serialize};

/// A kind of browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BrowserKind {
    /// Chromium or Google Chrome, driven by its DevTools socket.
    #[default]
    Chromium,
    /// Firefox, driven by WebDriver commands alone.
    Firefox,
}

impl BrowserKind {
    /// The one that the environment names.
    pub(crate) fn chosen() -> Result<Self, Error> {
        env::var_os(BROWSER).map_or(Ok(Self::default()), |name| Self::named(&name.to_string_lossy()))
    }

    fn named(name: &str) -> Result<Self, Error> {
        match name.to_ascii_lowercase().as_str() {
            "" | "chromium" | "chrome" => Ok(Self::Chromium),
            "firefox" => Ok(Self::Firefox),
            _ => Err(ARGUMENT_ERROR
                .error(format!("{BROWSER} cannot be {name:?}"))
                .remedy("Set it to chromium or firefox, or unset it.")
                .detail("argument", BROWSER)),
        }
    }
}

/// Whether the environment chooses Firefox in place of Chromium.
///
/// # Errors
///
/// [`ARGUMENT_ERROR`] if it names another browser.
pub fn is_firefox() -> Result<bool, Error> {
    BrowserKind::chosen().map(|kind| kind == BrowserKind::Firefox)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_named_or_refused() {
        for (name, kind) in
            [("", BrowserKind::Chromium), ("chromium", BrowserKind::Chromium), ("Firefox", BrowserKind::Firefox)]
        {
            assert_eq!(BrowserKind::named(name).unwrap(), kind);
        }
        assert!(BrowserKind::named("safari").unwrap_err().is(ARGUMENT_ERROR));
    }
}
