//! The environment of a command, without variables that contain secrets.

use std::ffi::{OsStr, OsString};

/// Whether a variable may contain a secret or lead to one.
pub fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    ragmaker_project::secrets::is_secret_variable(&name.to_string_lossy(), &value.to_string_lossy())
}

/// The environment of this process, without secrets.
pub fn without_secrets() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, value)| !is_secret(name, value))
}
