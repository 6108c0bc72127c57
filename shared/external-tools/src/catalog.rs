//! Reading a tool catalog and converting each entry to a tool.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use ragmaker_config::Catalog;
use serde_json::Value;

use crate::{
    CatalogFormat, Confinement, ParsedCatalog, RunContext, Runner, Tool, annotations_of, catalog_format, name_of,
    process::{Executable, Permissions, program},
    schema::{self, Schema},
};

/// A catalog is at most this many bytes long.
const MAX_BYTES: u64 = 16 << 20;
/// The time limit for a discovery command.
const DISCOVERY: Duration = Duration::from_secs(20);
/// The maximum length in characters of a description: a model reads it with every request.
const DESCRIPTION: usize = 2_000;

/// The tools of a catalog.
pub(crate) fn read(
    catalog: &Catalog,
    context: &RunContext,
    confinement: &Confinement,
    timeout: Duration,
    is_cancelled: &dyn Fn() -> bool,
) -> ParsedCatalog {
    let (shown, folder) = if catalog.file.is_empty() {
        (catalog.discover.join(" "), context.root.clone())
    } else {
        (catalog.file.clone(), Path::new(&catalog.file).parent().unwrap_or(Path::new(".")).to_owned())
    };
    let failed = |reason: String| format!("catalog {shown}: {reason}");
    let bytes = if catalog.file.is_empty() {
        discovered(&catalog.discover, &folder, context, confinement, is_cancelled).map_err(failed)?
    } else {
        bytes(Path::new(&catalog.file)).map_err(failed)?
    };
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let json: Value = serde_json::from_slice(bytes).map_err(|error| failed(format!("it is not JSON: {error}")))?;
    let call = match catalog.call.split_first() {
        Some((command, words)) => Some((program(command, &folder).map_err(failed)?, words)),
        None => None,
    };
    let entries = catalog_format::entries(&json, call.is_some()).map_err(failed)?;
    let tool = |(format, entry): (CatalogFormat, &Value)| {
        let name = entry["name"].as_str().unwrap_or_default();
        let runs = match (&call, format) {
            (Some((program, words)), _) => Ok((program.clone(), words.to_vec())),
            (None, CatalogFormat::Gemini) => {
                Err("the configuration names no command that calls it: add call".to_owned())
            }
            (None, CatalogFormat::Functions) => {
                name_of(name).and_then(|name| program(&format!("bin/{name}"), &folder)).map(|program| (program, vec![]))
            }
            (None, _) => {
                let command = entry["command"].as_str().filter(|command| !command.trim().is_empty());
                command.ok_or_else(|| "it has no command".to_owned()).and_then(|command| words(command, &folder))
            }
        };
        let common = CatalogContext { folder: &folder, context, confinement, timeout };
        runs.and_then(|(program, words)| made(entry, format, program, words, &common))
            .map_err(|reason| failed(format!("the tool {name:?} is left out: {reason}")))
    };
    Ok(entries.into_iter().map(tool).collect())
}

/// The common facts of the entries of a catalog.
struct CatalogContext<'a> {
    folder: &'a Path,
    context: &'a RunContext,
    confinement: &'a Confinement,
    timeout: Duration,
}

fn made(
    entry: &Value,
    format: CatalogFormat,
    program: PathBuf,
    words: Vec<String>,
    common: &CatalogContext<'_>,
) -> Result<Tool, String> {
    let CatalogContext { folder, context, confinement, timeout } = *common;
    let own = entry["name"].as_str().ok_or("it has no name")?;
    let declared = if format == CatalogFormat::Gemini && !entry["parametersJsonSchema"].is_null() {
        &entry["parametersJsonSchema"]
    } else {
        &entry["parameters"]
    };
    let parameters = schema::parameters(declared)?;
    let annotations = annotations_of(entry);
    let description: String = entry["description"].as_str().unwrap_or_default().chars().take(DESCRIPTION).collect();
    let executable = Executable {
        format,
        program,
        words,
        name: own.to_owned(),
        parameters: parameters.clone(),
        context: context.clone(),
        folder: folder.to_owned(),
        reach: Permissions::of(annotations, confinement),
    };
    Ok(Tool {
        name: name_of(own)?,
        description,
        schema: Schema::new(&parameters)?,
        parameters,
        annotations,
        is_held: confinement.holds,
        unconfined: confinement.missing.clone(),
        runs: Runner::Executable(Box::new(executable)),
        timeout,
    })
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    // A pipe would keep the host waiting.
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(format!("it is not a file of at most {MAX_BYTES} bytes"));
    }
    let mut bytes = vec![];
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// The output of a discovery command.
fn discovered(
    command: &[String],
    folder: &Path,
    context: &RunContext,
    confinement: &Confinement,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Vec<u8>, String> {
    let (first, words) = command.split_first().ok_or("it is empty")?;
    let executable = Executable {
        format: CatalogFormat::Gemini,
        program: program(first, folder)?,
        words: words.to_vec(),
        name: String::new(),
        parameters: Value::Null,
        context: context.clone(),
        folder: folder.to_owned(),
        // To list tools, nothing has to be changed.
        reach: Permissions::of(ragmaker_tool::Annotations::READ_ONLY, confinement),
    };
    let ended = executable.print(DISCOVERY, is_cancelled).map_err(|error| error.message().to_owned())?;
    if ended.exit_code != Some(0) {
        return Err(format!("it ended with {:?}: {}", ended.exit_code, ended.stderr.text(200).0));
    }
    ended.stdout.whole().map(<[u8]>::to_vec).ok_or_else(|| "it prints too much".to_owned())
}

/// The executable of `command`. If `command` as a whole is not an executable, its first word is, and the others are
/// arguments.
fn words(command: &str, folder: &Path) -> Result<(PathBuf, Vec<String>), String> {
    program(command, folder).map(|program| (program, vec![])).or_else(|error| {
        let mut words = command.split_whitespace().map(str::to_owned);
        let first = words.next().filter(|first| first != command).ok_or(error)?;
        Ok((program(&first, folder)?, words.collect()))
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_command_is_an_executable_with_a_blank_or_one_with_arguments() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["my tool", "tool"] {
            fs::write(folder.path().join(name), "#!/bin/sh\n").unwrap();
            fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o700)).unwrap();
        }
        let of = |command: &str| {
            words(command, folder.path()).map(|(program, words)| (program.file_name().unwrap().to_owned(), words))
        };
        assert_eq!(of("my tool").unwrap(), ("my tool".into(), vec![]));
        assert_eq!(
            of("./tool  --a\t\u{6f6e}").unwrap(),
            ("tool".into(), vec!["--a".to_owned(), "\u{6f6e}".to_owned()])
        );
        assert_eq!(of("no-such-program --a").unwrap_err(), "no-such-program is not an executable");
        assert_eq!(of("no-such-program").unwrap_err(), "no-such-program is not an executable");
    }

    #[test]
    fn a_catalog_is_a_file_of_bounded_size() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalog.json");
        assert!(bytes(&file).is_err());
        fs::write(&file, "[]").unwrap();
        assert_eq!(bytes(&file).unwrap(), b"[]");
        fs::File::options().write(true).open(&file).unwrap().set_len(MAX_BYTES + 1).unwrap();
        assert!(bytes(&file).unwrap_err().contains("at most"));
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(bytes(&pipe).is_err() && bytes(folder.path()).is_err());
    }
}
