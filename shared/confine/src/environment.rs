//! The environment of a command, without variables that contain secrets.

use std::ffi::{OsStr, OsString};

/// Parts of the names of variables whose values are secrets.
const PARTS: [&str; 13] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "AUTH",
    "COOKIE",
    "SESSION_KEY",
];

/// Variables that lead to a secret or to a process that has one, and the approval, which is for one process
/// only.
const NAMES: [&str; 8] = [
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "PGPASS",
    "MYSQL_PWD",
    "KUBECONFIG",
    "DOCKER_HOST",
    ragmaker_project::variables::APPROVE,
];

/// Whether a variable may contain a secret or lead to one.
pub fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let ends_in_key = name.ends_with("_KEY") || name == "KEY";
    if ends_in_key || NAMES.contains(&name.as_str()) || PARTS.iter().any(|part| name.contains(part)) {
        return true;
    }
    // `postgres://user:password@host`.
    let value = value.to_string_lossy();
    let mut addresses = value.match_indices("://").map(|(at, _)| &value[at + 3..]);
    addresses.any(|rest| {
        let authority = rest.split(['/', ' ', '?', '#']).next().unwrap_or_default();
        authority.split_once('@').is_some_and(|(user, _)| user.contains(':'))
    })
}

/// The environment of this process, without secrets.
pub fn without_secrets() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, value)| !is_secret(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognised_by_name_and_by_value() {
        for (name, value, expected) in [
            ("OPENAI_API_KEY", "x", true),
            ("GITHUB_TOKEN", "x", true),
            ("AWS_SECRET_ACCESS_KEY", "x", true),
            ("db_password", "x", true),
            ("SSH_AUTH_SOCK", "/run/x", true),
            ("RAGMAKER_APPROVE", "all", true),
            ("DATABASE_URL", "postgres://me:word@host/db", true),
            ("HTTP_PROXY", "http://host:80/a@b", false),
            ("HOMEPAGE", "https://a.example/", false),
            ("PATH", "/usr/bin", false),
            ("KEYBOARD", "us", false),
            ("LANG", "ja_JP.UTF-8", false),
        ] {
            assert_eq!(is_secret(name.as_ref(), value.as_ref()), expected, "{name}");
        }
    }
}
