//! Reading a configuration file and checking it against the table of keys.

use std::{collections::BTreeMap, fs, io::Read, path::Path};

use ragmaker_tool::{Error, arguments::nearest};
use toml::de::{DeTable, DeValue};

use crate::{CONFIG_INVALID, Origin, keys, value::Value};

/// A configuration file is at most this many bytes long.
const LIMIT: u64 = 1 << 20;

/// A value with its origin.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// The settings by the names of their keys.
pub(crate) type Settings = BTreeMap<String, Setting>;

/// The text of the file at `path`; `None` if there is no file.
pub(crate) fn text(path: &Path) -> Result<Option<String>, Error> {
    let shown = path.display();
    let failed = |error: &dyn std::fmt::Display| {
        CONFIG_INVALID
            .error(format!("{shown} cannot be read: {error}"))
            .remedy("Make it a file in UTF-8 that you may read, or remove it.")
            .detail("file", path.to_string_lossy())
    };
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&error)),
        // A pipe would keep the program waiting.
        Ok(metadata) if !metadata.is_file() => return Err(failed(&"it is not a file")),
        Ok(metadata) if metadata.len() > LIMIT => return Err(failed(&format!("it is longer than {LIMIT} bytes"))),
        Ok(_) => {}
    }
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| failed(&error))?;
    file.take(LIMIT).read_to_string(&mut text).map_err(|error| failed(&error))?;
    Ok(Some(text))
}

/// The settings in `text`, which is the file at `path`.
pub(crate) fn settings(path: &Path, text: &str, in_project: bool) -> Result<Settings, Error> {
    let file = File { path, text, in_project };
    // The crate's own message quotes the line, which may contain a key.
    let table = DeTable::parse(text).map_err(|error| {
        let line = file.line(error.span().map_or(0, |span| span.start));
        file.invalid(line, "", error.message()).remedy("Write it as TOML: https://toml.io.")
    })?;
    let mut settings = Settings::new();
    file.collect("", table.get_ref(), &mut settings)?;
    Ok(settings)
}

struct File<'a> {
    path: &'a Path,
    text: &'a str,
    in_project: bool,
}

impl File<'_> {
    /// Adds the settings of `table`, whose keys begin with `prefix`.
    fn collect(&self, prefix: &str, table: &DeTable<'_>, settings: &mut Settings) -> Result<(), Error> {
        for (name, value) in table {
            let own = name.get_ref();
            let line = self.line(name.span().start);
            let full = format!("{prefix}{own}");
            if let Some(key) = keys::find(&full) {
                let value = key.kind.of_toml(value.get_ref()).ok_or_else(|| {
                    let expected = key.kind.expected();
                    self.invalid(line, &full, &format!("{full} has to be {expected}"))
                        .remedy(format!("Write {expected}, or leave the key out: its default is {}.", key.default))
                })?;
                let origin = Origin::File { path: self.path.to_owned(), line, in_project: self.in_project };
                settings.insert(full, Setting { value, origin });
            } else if is_table(&full) {
                let DeValue::Table(inner) = value.get_ref() else {
                    return Err(self.invalid(line, &full, &format!("{full} has to be a table")));
                };
                self.collect(&format!("{full}."), inner, settings)?;
            } else {
                return Err(self.unknown(line, &full));
            }
        }
        Ok(())
    }

    fn unknown(&self, line: usize, full: &str) -> Error {
        let error = self.invalid(line, full, &format!("there is no key {full:?}"));
        if full.ends_with("api_key") {
            return error
                .remedy("Put the key into an environment variable or .env, and name the variable with api_key_env.");
        }
        let last = |name: &str| name.rsplit('.').next().map(str::to_owned);
        let known: Vec<_> = keys::KEYS.iter().map(|key| key.name).collect();
        // A key in the wrong table is nearer to itself than to anything in this one.
        let elsewhere = known.iter().find(|known| last(known) == last(full)).copied();
        match elsewhere.or_else(|| nearest(full, &known)) {
            Some(nearest) => error.remedy(format!("Did you mean {nearest}?")).detail("nearest", nearest),
            None => error,
        }
    }

    fn invalid(&self, line: usize, key: &str, what: &str) -> Error {
        let error = CONFIG_INVALID
            .error(format!("{}, line {line}: {what}", self.path.display()))
            .detail("file", self.path.to_string_lossy())
            .detail("line", line);
        if key.is_empty() { error } else { error.detail("key", key) }
    }

    /// The line of the byte `at`, from 1.
    fn line(&self, at: usize) -> usize {
        self.text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
    }
}

/// Whether keys are in a table of this name.
fn is_table(full: &str) -> bool {
    keys::KEYS.iter().any(|key| {
        let (mut own, given) = (key.name.split('.'), full.split('.'));
        given.into_iter().all(|part| own.next().is_some_and(|own| own == part || own == "NAME" && !part.is_empty()))
            && own.next().is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_the_beginnings_of_keys() {
        for name in ["model", "search", "mcp.servers", "mcp.servers.anything"] {
            assert!(is_table(name), "{name}");
        }
        for name in ["model.provider", "mode", "mcp.servers.", "mcp.other", ""] {
            assert!(!is_table(name), "{name}");
        }
    }

    #[test]
    fn an_error_names_the_line() {
        let path = Path::new("ragmaker.toml");
        let error = settings(path, "[model]\nprovider = 'gemini'\nnmae = 'x'\n", false).unwrap_err();
        assert!(error.is(CONFIG_INVALID) && error.details()["line"] == 3, "{error}");
        assert_eq!(error.remediation(), "Did you mean model.name?");
        let error = settings(path, "[model]\nprovider = 'none'\n", false).unwrap_err();
        assert_eq!((&error.details()["line"], &error.details()["key"]), (&2.into(), &"model.provider".into()));
    }
}
