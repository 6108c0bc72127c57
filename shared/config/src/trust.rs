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
            let text = match origin {
                Origin::File { path, .. } => fs::read(path).unwrap_or_default(),
                Origin::Environment { .. } => fs::read(self.root.join(".env")).unwrap_or_default(),
                Origin::Default | Origin::Flag => vec![],
            };
            // The lengths prevent other names and texts from giving the same sequence of bytes.
            for part in [name.as_bytes(), &text] {
                digest.update((part.len() as u64).to_le_bytes());
                digest.update(part);
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ragmaker_project::CONFIGURATION;

    use super::*;
    use crate::{Environment, Options};

    /// The configuration of a project with this file, of a user whose folder is `user`.
    fn config(project: &Path, user: &Path, text: &str) -> Config {
        fs::write(project.join(CONFIGURATION), text).unwrap();
        let environment = Environment::of([], project).unwrap();
        let options = Options { user_folder: Some(user.to_owned()), environment, ..Options::default() };
        Config::load(project, &options).unwrap()
    }

    #[test]
    fn a_confirmation_holds_for_the_text_and_the_project() {
        let (project, other, user) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let user = user.path().join("new");
        let text = "[command]\nallow = ['make']";
        let of = |project: &tempfile::TempDir, text: &str| config(project.path(), &user, text);
        assert!(of(&project, "[agent]\nmax_steps = 3").is_confirmed(), "nothing to confirm");
        assert!(!of(&project, text).is_confirmed());
        of(&project, text).confirm();
        assert!(of(&project, text).is_confirmed());
        assert!(!of(&other, text).is_confirmed(), "of another project");
        // Each confirmation is kept beside the others.
        of(&other, text).confirm();
        assert!(of(&project, text).is_confirmed() && of(&other, text).is_confirmed());
        for changed in ["[command]\nallow = ['rm']", "[command]\nallow = ['make']\nnetwork = true"] {
            assert!(!of(&project, changed).is_confirmed(), "{changed}");
        }
        assert!(of(&project, text).is_confirmed(), "the text before");
    }

    #[test]
    fn a_setting_of_the_file_dotenv_is_confirmed_with_its_text() {
        let (project, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let of = |dotenv: &str| {
            fs::write(project.path().join(".env"), dotenv).unwrap();
            config(project.path(), user.path(), "")
        };
        of("RAGMAKER_APPROVE=all").confirm();
        assert!(of("RAGMAKER_APPROVE=all").is_confirmed() && !of("RAGMAKER_APPROVE=all\nA=b").is_confirmed());
    }

    #[test]
    fn a_damaged_file_of_confirmations_confirms_nothing() {
        let (project, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let config = config(project.path(), user.path(), "[command]\nallow = ['make']");
        for damaged in ["", "[", "[1]", "{\"/\": \"\"}"] {
            fs::write(user.path().join("trusted.json"), damaged).unwrap();
            assert!(!config.is_confirmed(), "{damaged}");
        }
        config.confirm();
        assert!(config.is_confirmed());
    }
}
