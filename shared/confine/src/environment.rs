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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_secret_by_its_name_or_by_a_password_in_its_value() {
        let secret = |name: &str, value: &str| is_secret(OsStr::new(name), OsStr::new(value));
        for (name, value) in [("GITHUB_TOKEN", ""), ("db_pass", "x"), ("URL", "postgres://me:pw@host/db")] {
            assert!(secret(name, value), "{name}");
        }
        for (name, value) in [("PATH", "/bin"), ("PWD", "/home"), ("URL", "https://me@host/"), ("", "")] {
            assert!(!secret(name, value), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_not_utf_8_hide_no_secret() {
        use std::os::unix::ffi::OsStrExt;
        assert!(is_secret(OsStr::new("URL"), OsStr::from_bytes(b"\xff redis://me:pw@host")));
        assert!(is_secret(OsStr::from_bytes(b"\xff_TOKEN"), OsStr::new("x")));
    }

    #[test]
    fn the_environment_is_that_of_the_process_without_secrets() {
        let kept: Vec<_> = without_secrets().collect();
        assert!(kept.iter().all(|(name, value)| !is_secret(name, value)));
        assert!(kept.iter().any(|(name, _)| name == "PATH"));
    }
}
