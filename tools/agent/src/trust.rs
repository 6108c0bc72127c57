//! Trust in the project's own configuration, which the author of the project wrote.
//!
//! A person confirms once where an API key is sent, which programs are started and which calls run without approval. A
//! change of these settings needs another confirmation. Confirmations are in the user's configuration folder, which the
//! project cannot change.

use std::{fs, io::Write, path::PathBuf};

use ragmaker_config::{Config, Origin, user_folder};
use ragmaker_fs::Replace;
use ragmaker_project::Project;
use ragmaker_tool::{Code, Error};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{
    screen::note,
    terminal::{Line, Terminal},
};

/// The project's own files set what a person has to confirm.
pub(crate) const CONFIG_NOT_TRUSTED: Code = Code::new(
    "CONFIG_NOT_TRUSTED",
    "Read the project's ragmaker.toml and .env. Then start ragmaker-agent once at a terminal, which asks about them, or name the file with --config.",
);

/// Harmless by itself: keys go to the provider's own address.
const HARMLESS: [&str; 2] = ["model.provider", "search.engine"];

/// Has a person confirm what the project's files widen.
///
/// # Errors
///
/// [`CONFIG_NOT_TRUSTED`] where nobody did.
pub(crate) fn confirm(config: &Config, project: &Project, terminal: &mut Terminal) -> Result<(), Error> {
    let widened: Vec<_> =
        config.widened_by_project().into_iter().filter(|(name, _)| !HARMLESS.contains(name)).collect();
    if widened.is_empty() {
        return Ok(());
    }
    let said = said(&widened, project);
    let root = project.root().to_string_lossy().into_owned();
    let mut trusted = read();
    if trusted.get(&root).and_then(Value::as_str) == Some(said.as_str()) {
        return Ok(());
    }
    let names = widened.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let refused = || {
        CONFIG_NOT_TRUSTED
            .error(format!("the project's own files set {names}, which nobody has confirmed"))
            .detail("keys", widened.iter().map(|(name, _)| *name).collect::<Vec<_>>())
    };
    if !terminal.is_there() {
        return Err(refused());
    }
    note(&format!("The files of {root} set:"));
    for (name, origin) in &widened {
        note(&format!("  {name} ({})", place(origin)));
    }
    note("They decide where keys are sent, or what runs. Trust them only if you know who wrote them.");
    match terminal.line("trust these settings? [y] yes  [n] no  ? ") {
        Line::Text(text) if ["y", "yes"].contains(&text.trim().to_lowercase().as_str()) => {
            trusted.insert(root, said.into());
            write(&trusted);
            Ok(())
        }
        _ => Err(refused()),
    }
}

/// The settings with the files that they are from, as a checksum: a change is confirmed again.
fn said(widened: &[(&str, Origin)], project: &Project) -> String {
    let mut digest = Sha256::new();
    for (name, origin) in widened {
        digest.update(name);
        match origin {
            Origin::File { path, .. } => digest.update(fs::read(path).unwrap_or_default()),
            Origin::Environment { .. } => digest.update(fs::read(project.root().join(".env")).unwrap_or_default()),
            Origin::Default | Origin::Flag => {}
        }
    }
    digest.finalize().iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

fn place(origin: &Origin) -> String {
    match origin {
        Origin::File { path, line, .. } => format!("{}, line {line}", path.display()),
        Origin::Environment { name, .. } => format!("{name} in .env"),
        Origin::Default | Origin::Flag => String::new(),
    }
}

fn file() -> Option<PathBuf> {
    Some(user_folder()?.join("trusted.json"))
}

fn read() -> Map<String, Value> {
    let text = file().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Remembers what was confirmed. Where that fails, it is asked again.
fn write(trusted: &Map<String, Value>) {
    if let Some(path) = file()
        && let Some(folder) = path.parent()
        && ragmaker_project::create_private(folder).is_ok()
    {
        let text = Value::Object(trusted.clone()).to_string();
        let _ = ragmaker_fs::write_atomically(&path, Replace::default(), |file| file.write_all(text.as_bytes()));
    }
}
