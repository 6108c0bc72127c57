//! Environment variables: those of the process, and, with lower precedence, those of the project's `.env` file.
//!
//! The variables of `.env` are not added to the environment of the process, because commands and external tools would
//! inherit the API keys.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Read},
    path::Path,
};

use ragmaker_tool::Error;

use crate::{CONFIG_INVALID, Origin, file};

/// The variables that a configuration is read from.
#[derive(Clone, Default)]
pub struct Environment {
    process: BTreeMap<String, String>,
    dotenv: BTreeMap<String, String>,
}

impl Environment {
    /// The environment of this process, and the `.env` in `root`.
    ///
    /// # Errors
    /// [`CONFIG_INVALID`] for a `.env` that cannot be read.
    pub fn read(root: &Path) -> Result<Self, Error> {
        let process = std::env::vars_os().filter_map(|(name, value)| {
            // What is not UTF-8 is neither a key nor a setting.
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self::of(process, root)
    }

    /// The environment `process`, and the `.env` in `root`.
    ///
    /// # Errors
    /// As [`Environment::read`].
    pub fn of(process: impl IntoIterator<Item = (String, String)>, root: &Path) -> Result<Self, Error> {
        let path = root.join(".env");
        let dotenv = file::text(&path)?.map(|text| variables(&path, &text)).transpose()?.unwrap_or_default();
        Ok(Self { process: process.into_iter().collect(), dotenv })
    }

    /// The variables of `.env`.
    pub(crate) fn dotenv(&self) -> &BTreeMap<String, String> {
        &self.dotenv
    }

    /// The value of a variable. An empty variable counts as not set.
    pub(crate) fn get(&self, name: &str) -> Option<(&str, Origin)> {
        let set = |value: &&String| !value.trim().is_empty();
        if let Some(value) = self.process.get(name).filter(set) {
            return Some((value, Origin::Environment { name: name.to_owned(), in_project: false }));
        }
        let value = self.dotenv.get(name).filter(set)?;
        Some((value, Origin::Environment { name: name.to_owned(), in_project: true }))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values may be keys.
        write!(f, "{} variables, and in .env {:?}", self.process.len(), self.dotenv.keys())
    }
}

/// Returns one line at a time and counts the lines, because the parser does not report the line of an error.
struct Lines<'a> {
    rest: &'a [u8],
    read: &'a std::cell::Cell<usize>,
}

impl Read for Lines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let end = self.rest.iter().position(|byte| *byte == b'\n').map_or(self.rest.len(), |at| at + 1);
        let end = end.min(buffer.len());
        buffer[..end].copy_from_slice(&self.rest[..end]);
        self.rest = &self.rest[end..];
        self.read.set(self.read.get() + usize::from(buffer[..end].ends_with(b"\n") || self.rest.is_empty() && end > 0));
        Ok(end)
    }
}

fn variables(path: &Path, text: &str) -> Result<BTreeMap<String, String>, Error> {
    let read = std::cell::Cell::new(0);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = Lines { rest: text.as_bytes(), read: &read };
    let mut variables = BTreeMap::new();
    for variable in dotenvy::Iter::new(lines) {
        // The error itself quotes the line, which may contain a key.
        let (name, value) = variable.map_err(|_| {
            let line = read.get();
            CONFIG_INVALID
                .error(format!("{}, line {line}: it is not NAME=VALUE", path.display()))
                .remedy("Write NAME=VALUE, with quotes around a value that has spaces, # or $.")
                .detail("file", path.to_string_lossy())
                .detail("line", line)
        })?;
        variables.insert(name, value);
    }
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<BTreeMap<String, String>, Error> {
        variables(Path::new(".env"), text)
    }

    #[test]
    fn a_dotenv_is_read_as_elsewhere() {
        let text = "\u{feff}# keys\nA=1\nexport B='two words' # note\n\nC=\"x#y\"\r\nD=\n";
        let expected = [("A", "1"), ("B", "two words"), ("C", "x#y"), ("D", "")];
        let found = read(text).unwrap();
        let found: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_error_names_the_line_and_not_the_key() {
        let error = read("A=1\n\nB C sk-12345\nD=2\n").unwrap_err();
        assert!(error.is(CONFIG_INVALID) && error.details()["line"] == 3, "{error}");
        assert!(!serde_json(&error).contains("12345"));
    }

    fn serde_json(error: &Error) -> String {
        format!("{error:?}")
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[A-Z= '\"\\\\$\\{\\}#\n\ra潮]{0,60}") {
            let _ = read(&text);
        }
    }
}
