//! The names of files and of environment variables that hold keys and passwords.

/// Files with keys or passwords, by their names in lower case.
const FILES: [&str; 31] = [
    ".boto",
    ".dockercfg",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".vault-pass",
    ".vault-token",
    "_netrc",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.yaml",
    "credentials.yml",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "kubeconfig",
    "secrets.env",
    "secrets.ini",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "vault-pass.txt",
];

/// The ends of the names of such files.
const ENDS: [&str; 8] = [".jks", ".kdbx", ".key", ".keystore", ".p12", ".pem", ".pfx", ".ppk"];

/// The ends of the names of examples, which have no keys.
const EXAMPLES: [&str; 4] = [".example", ".sample", ".template", ".dist"];

/// Whether a file name is `.env`, or `.env.local` and similar for one of several environments, and no example.
pub fn is_dotenv(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == ".env" || (name.starts_with(".env.") && !EXAMPLES.iter().any(|end| name.ends_with(end)))
}

/// Whether a file name is typical of files with keys and passwords.
pub fn is_secret_file(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    is_dotenv(name) || FILES.contains(&&*lower) || ENDS.iter().any(|end| lower.ends_with(end))
}

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

/// Such parts, between underscores: they also occur within words, as in `PATH` and `COMPASS`.
const WORDS: [&str; 6] = ["PAT", "PASS", "PW", "DSN", "CRED", "CREDS"];

/// Variables that lead to a secret or to a process that has one, and the approval, which is for one process only.
const NAMES: [&str; 6] = [
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "KUBECONFIG",
    "DOCKER_HOST",
    crate::variables::APPROVE,
];

/// Whether an environment variable may hold a secret or lead to one.
pub fn is_secret_variable(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let (last, is_long) = name.rsplit_once('_').map_or((&*name, false), |(_, last)| (last, true));
    // `PWD` is the working directory.
    let is_password = (is_long && last == "PWD") || (last.ends_with("PASS") && !["COMPASS", "BYPASS"].contains(&last));
    is_password
        || last == "KEY"
        || name.starts_with("PGPASS")
        || NAMES.contains(&name.as_str())
        || PARTS.iter().any(|part| name.contains(part))
        || (name.split('_').any(|word| WORDS.contains(&word)))
        || has_password(value)
}

/// Whether a value is an address with a password, such as `postgres://user:password@host`.
fn has_password(value: &str) -> bool {
    let mut addresses = value.match_indices("://").map(|(at, _)| &value[at + 3..]);
    addresses.any(|rest| {
        let authority = rest.split(['/', ' ', '?', '#']).next().unwrap_or_default();
        authority.split_once('@').is_some_and(|(user, _)| user.contains(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_recognised_by_name_and_by_value() {
        for (name, value, expected) in [
            ("OPENAI_API_KEY", "x", true),
            ("GITHUB_TOKEN", "x", true),
            ("GITHUB_PAT", "x", true),
            ("AWS_SECRET_ACCESS_KEY", "x", true),
            ("db_password", "x", true),
            ("DB_PASS", "x", true),
            ("DBPASS", "x", true),
            ("PGPASSWORD", "x", true),
            ("PGPASSFILE", "x", true),
            ("MYSQL_PWD", "x", true),
            ("SENTRY_DSN", "x", true),
            ("SSH_AUTH_SOCK", "/run/x", true),
            ("RAGMAKER_APPROVE", "all", true),
            ("DATABASE_URL", "postgres://me:word@host/db", true),
            ("HTTP_PROXY", "http://host:80/a@b", false),
            ("HOMEPAGE", "https://a.example/", false),
            ("PATH", "/usr/bin", false),
            ("PWD", "/home/me", false),
            ("OLDPWD", "/home/me", false),
            ("COMPASS_PATH", "/x", false),
            ("KEYBOARD", "us", false),
            ("GIT_CONFIG_KEY_0", "x", false),
            ("LANG", "ja_JP.UTF-8", false),
        ] {
            assert_eq!(is_secret_variable(name, value), expected, "{name}");
        }
    }

    #[test]
    fn files_are_recognised_by_name() {
        for name in
            [".env", ".env.local", ".ENV", ".envrc", "id_rsa", "Credentials.json", "secrets.yml", "a.pem", "b.key"]
        {
            assert!(is_secret_file(name), "{name}");
        }
        for name in [".env.example", ".env.local.sample", "env", "a.env.md", "id_rsa.pub", "secrets.rs", "keys.md"] {
            assert!(!is_secret_file(name), "{name}");
        }
        assert!(is_dotenv(".env.local") && !is_dotenv(".envrc"));
    }
}
