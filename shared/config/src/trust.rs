//! Trust in the project's own files, which the author of the project wrote.
//!
//! A person confirms their settings that widen what can be reached. A confirmation holds for the text of these files: a
//! change needs another one. Confirmations are in the user's configuration folder, which the project cannot change.

use std::{fs, io::Write, path::PathBuf};

use ragmaker_fs::{Replace, write_atomically};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{Config, Origin};

/// Harmless by itself: keys go to the provider's own address.
const HARMLESS: [&str; 2] = ["model.provider", "search.engine"];

impl Config {
    /// The keys that the project's own files set and that a person has to confirm, with their origins.
    pub fn to_confirm(&self) -> Vec<(&str, Origin)> {
        self.untrusted_settings().into_iter().filter(|(name, _)| !HARMLESS.contains(name)).collect()
    }

    /// Whether a person confirmed them, or there are none.
    pub fn is_confirmed(&self) -> bool {
        let widened = self.to_confirm();
        let known = || confirmations(self.file_of_confirmations().as_ref());
        widened.is_empty()
            || known().get(&*self.root.to_string_lossy()).and_then(Value::as_str) == Some(&self.checksum(&widened))
    }

    /// Remembers that a person confirmed them. If that fails, it is asked again.
    pub fn confirm(&self) {
        let path = self.file_of_confirmations();
        let mut known = confirmations(path.as_ref());
        known.insert(self.root.to_string_lossy().into_owned(), self.checksum(&self.to_confirm()).into());
        if let Some(path) = path
            && let Some(folder) = path.parent()
            && ragmaker_project::create_private(folder).is_ok()
        {
            let text = Value::Object(known).to_string();
            let _ = write_atomically(&path, Replace::default(), |file| file.write_all(text.as_bytes()));
        }
    }

    /// The settings with the files that they are from, as a checksum.
    fn checksum(&self, widened: &[(&str, Origin)]) -> String {
        let mut digest = Sha256::new();
        for (name, origin) in widened {
            digest.update(name);
            match origin {
                Origin::File { path, .. } => digest.update(fs::read(path).unwrap_or_default()),
                Origin::Environment { .. } => digest.update(fs::read(self.root.join(".env")).unwrap_or_default()),
                Origin::Default | Origin::Flag => {}
            }
        }
        format!("{:x}", digest.finalize())
    }

    fn file_of_confirmations(&self) -> Option<PathBuf> {
        Some(self.user_folder.as_ref()?.join("trusted.json"))
    }
}

fn confirmations(path: Option<&PathBuf>) -> Map<String, Value> {
    let text = path.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
