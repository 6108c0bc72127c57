//! The log of operations: each call appends one JSON line to the file that `RAGMAKER_LOG` names.
//!
//! Without this variable there is no log. A line has the facts that a host may want to account for: tool, operation,
//! path and URL, lines, MIME type, extension, bytes, duration, error code. What the
//! answer does not have of these is measured at the file at the path, after the call. Contents are never logged, nor the
//! user name and the password in a URL.

mod file;
mod members;

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    time::{Instant, SystemTime},
};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{Error, Tool};

/// The variable that names the file.
const VARIABLE: &str = "RAGMAKER_LOG";

/// The members of answers, arguments and the details of errors that are logged, by the name that they have
/// in the log: the first one that is there.
const MEMBERS: [(&str, &[&str]); 5] = [
    (
        "path",
        &["file_path", "path", "source_path", "source_dir", "target_dir", "catalog_file", "output_dir", "kb_root"],
    ),
    ("destination", &["destination_path"]),
    ("url", &["url", "repo_url"]),
    ("mime_type", &["mime_type", "media_type"]),
    ("bytes", &["bytes", "size"]),
];

/// A call that is under way.
pub(crate) struct Record {
    file: String,
    line: Map<String, Value>,
    arguments: Map<String, Value>,
    started: Instant,
}

impl Record {
    /// Starts the record of a call, if there is a log.
    pub(crate) fn start<T: Tool>(tool: &T) -> Option<Self> {
        Some(Self { arguments: logged(tool), ..Self::begin::<T>()? })
    }

    /// Writes the record of a call whose arguments cannot be used.
    pub(crate) fn refuse<T: Tool>(error: &Error) {
        if let Some(record) = Self::begin::<T>() {
            record.end::<()>(Err(error));
        }
    }

    fn begin<T: Tool>() -> Option<Self> {
        let file = env::var(VARIABLE).ok().filter(|file| !file.is_empty())?;
        let operation = match (T::ANNOTATIONS.read_only_hint, T::ANNOTATIONS.destructive_hint) {
            (true, _) => "read",
            (false, true) => "change",
            (false, false) => "write",
        };
        let line = [
            ("time", json!(humantime::format_rfc3339_millis(SystemTime::now()).to_string())),
            ("tool", T::NAME.into()),
            ("operation", operation.into()),
        ];
        let line = line.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        Some(Self { file, line, arguments: Map::new(), started: Instant::now() })
    }

    /// Adds the number of lines of the file, if the tool counted them.
    pub(crate) fn with_lines(mut self, lines: Option<u64>) -> Self {
        self.line.extend(lines.map(|lines| ("lines".to_owned(), lines.into())));
        self
    }

    /// Writes the record. A log that cannot be written does not make the call fail.
    pub(crate) fn end<A: Serialize>(self, outcome: Result<&A, &Error>) {
        let Self { file, mut line, arguments, started } = self;
        let answer = outcome.map_or_else(|error| logged(error.details()), logged);
        for (name, spellings) in MEMBERS {
            let values =
                [&answer, &arguments].into_iter().flat_map(|part| spellings.iter().map(|name| part.get(*name)));
            if let Some(value) = values.flatten().find(|value| value.is_string() || value.is_number()) {
                let value = value.as_str().map_or_else(|| value.clone(), |text| without_credentials(text).into());
                line.insert(name.to_owned(), value);
            }
        }
        if let Some(path) = line.get("path").and_then(Value::as_str).map(PathBuf::from) {
            file::describe(&path, &mut line);
        }
        let extension = line.get("path").and_then(Value::as_str).and_then(|path| Path::new(path).extension());
        if let Some(extension) = extension.map(|extension| extension.to_string_lossy().into_owned()) {
            line.insert("extension".to_owned(), extension.into());
        }
        line.insert("milliseconds".to_owned(), (started.elapsed().as_millis() as u64).into());
        line.insert("error_code".to_owned(), outcome.err().map(Error::code).into());
        let text = Value::Object(line).to_string() + "\n";
        let mut options = fs::OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            // It has the paths and addresses of a person's work. A pipe without a reader is not waited for.
            options.mode(0o600).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        }
        let log = options.open(file);
        // One write per line: concurrent calls append whole lines.
        let _ = log.and_then(|mut log| log.write_all(text.as_bytes()));
    }
}

/// The members of `value` that may be logged.
fn logged<T: Serialize + ?Sized>(value: &T) -> Map<String, Value> {
    let names: Vec<&str> = MEMBERS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    members::of(value, &names)
}

/// `text` without the user name and the password, if it is a URL that has them.
fn without_credentials(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}://{}", &rest[host..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_has_a_destination() {
        let answer = json!({"source_path": "/a", "destination_path": "/b", "moved": 1});
        let names = MEMBERS.iter().filter(|(_, names)| names.iter().any(|name| logged(&answer).contains_key(*name)));
        assert_eq!(names.map(|(name, _)| *name).collect::<Vec<_>>(), ["path", "destination"]);
    }

    #[test]
    fn a_url_is_logged_without_its_password() {
        for (given, logged) in [
            ("https://me:secret@a.example/x?q=b@c", "https://a.example/x?q=b@c"),
            ("https://me:se@cret@a.example", "https://a.example"),
            ("https://a.example/@me", "https://a.example/@me"),
            ("/notes/a@b.md", "/notes/a@b.md"),
        ] {
            assert_eq!(without_credentials(given), logged);
        }
    }
}
