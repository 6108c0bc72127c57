//! Tests of the changes that `connect` and `--remove` make to files.

use super::{super::write::write_all, *};
use serde_json::json;

const OWN: &str = "{\"mcpServers\": {\"ragmaker\": {\"command\": \"/opt/mine\", \"args\": [\"serve\"]}}}";

/// A folder with a file of settings and its records.
struct Place {
    folder: tempfile::TempDir,
    path: PathBuf,
    records: Records,
}

impl Place {
    fn new(text: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        if let Some(text) = text {
            fs::write(&path, text).unwrap();
        }
        let records = Records::new(folder.path().join("ragmaker/connect"));
        Self { folder, path, records }
    }

    fn planned(&self, argument: &str) -> Planned {
        let value = json!({"command": "ragmaker", "args": ["mcp", argument]});
        Planned::json(self.path.clone(), ["mcpServers", "ragmaker"], value)
    }

    fn change(&self, argument: &str, remove: bool) -> Option<Change> {
        self.planned(argument).change(&self.records, remove, false).unwrap()
    }

    fn connect(&self, argument: &str) {
        write_all(&[self.change(argument, false).unwrap()], false, &self.records).unwrap();
    }

    /// Removes the entry, and returns the action.
    fn remove(&self) -> Action {
        let change = self.change("", true).unwrap();
        let action = change.action;
        write_all(&[change], true, &self.records).unwrap();
        action
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }
}

#[test]
fn a_removal_gives_back_every_byte() {
    for before in [
        "{\"a\":1}",
        "{\r\n\r\n  \"a\": 1\n\n}",
        "{\"mcpServers\": {}}\n",
        "{\"mcpServers\": null}",
        "\u{feff}{}\r\n",
        "",
        OWN,
    ] {
        let place = Place::new(Some(before));
        place.connect("");
        let connected = place.text();
        assert_eq!(place.planned("").command().unwrap().as_deref(), Some("ragmaker"), "{before:?}");
        assert!(place.change("", false).is_none(), "{before:?}");
        // A newer version changes the entry, and keeps the record of what was there first.
        place.connect("--all");
        assert_ne!(place.text(), connected);
        assert_eq!(place.remove(), if before == OWN { Action::Restore } else { Action::Change });
        assert_eq!(place.text(), before);
        assert_eq!(fs::read_dir(place.folder.path()).unwrap().count(), 1, "the record is gone");
    }
    let place = Place::new(None);
    place.connect("");
    place.connect("--all");
    assert_eq!(place.remove(), Action::Delete);
    assert_eq!(fs::read_dir(place.folder.path()).unwrap().count(), 0);
}

#[test]
fn a_file_that_the_person_changed_since_keeps_their_changes() {
    for (before, after) in [
        (Some("{}"), json!({"mine": 1})),
        (Some("{\"mcpServers\": {}}"), json!({"mcpServers": {}, "mine": 1})),
        (Some(OWN), json!({"mcpServers": {"ragmaker": {"command": "/opt/mine", "args": ["serve"]}}, "mine": 1})),
        (None, json!({"mine": 1})),
    ] {
        for is_updated in [false, true] {
            let place = Place::new(before);
            place.connect("");
            let mut text: Value = serde_json::from_str(&place.text()).unwrap();
            text["mine"] = 1.into();
            fs::write(&place.path, text.to_string()).unwrap();
            if is_updated {
                place.connect("--all");
            }
            place.remove();
            assert_eq!(serde_json::from_str::<Value>(&place.text()).unwrap(), after, "{before:?} {is_updated}");
        }
    }
    // A client that only lays it out anew.
    let place = Place::new(None);
    place.connect("");
    fs::write(&place.path, serde_json::from_str::<Value>(&place.text()).unwrap().to_string()).unwrap();
    assert_eq!(place.remove(), Action::Delete);
}

#[test]
fn an_entry_of_the_person_is_not_removed() {
    let place = Place::new(Some(OWN));
    let change = place.change("", true).unwrap();
    assert_eq!(change.action, Action::Keep);
    assert!(change.description().contains("did not write it"));
    let replaced = place.planned("").change(&place.records, true, true).unwrap().unwrap();
    assert_eq!(replaced.action, Action::Change);
    // One that this program wrote is, also without a record.
    for program in ["ragmaker", "/opt/bin/ragmaker", "C:\\\\bin\\\\ragmaker.exe"] {
        let text = format!("{{\"mcpServers\": {{\"ragmaker\": {{\"command\": \"{program}\", \"args\": [\"mcp\"]}}}}}}");
        let place = Place::new(Some(&text));
        assert_eq!(place.remove(), Action::Change, "{program}");
        assert_eq!(place.text().replace([' ', '\n'], ""), "{\"mcpServers\":{}}");
    }
    // Nor is one with more than this program writes.
    for more in ["\"env\": {\"KEY\": \"a\"}, \"args\": [\"mcp\"]", "\"args\": [\"mcp\", \"--project-root\", \"/x\"]"] {
        let text = format!("{{\"mcpServers\": {{\"ragmaker\": {{\"command\": \"ragmaker\", {more}}}}}}}");
        let place = Place::new(Some(&text));
        assert_eq!(place.change("", true).unwrap().action, Action::Keep, "{more}");
    }
    assert!(is_own(&json!({"type": "local", "command": ["ragmaker", "mcp"]})));
    assert!(!is_own(&json!({"command": "ragmaker"})) && !is_own(&json!({"command": "npx", "args": ["mcp"]})));
}

#[test]
fn a_file_of_an_older_version_is_replaced_until_the_person_changes_it() {
    let folder = tempfile::tempdir().unwrap();
    let records = Records::new(folder.path().join("ragmaker/connect"));
    let write = |change: Change| write_all(&[change], false, &records).unwrap();
    for (name, old, new) in
        [("rag.md", "---\na: 1\n---\nOld.\n", "---\na: 1\n---\nNew.\n"), ("rag.toml", "a = 1\n", "a = 2\n")]
    {
        let path = folder.path().join(name);
        let change = |text: &str, remove| Planned::file(path.clone(), text).change(&records, remove, false).unwrap();
        write(change(old, false).unwrap());
        assert!(change(old, false).is_none());
        let update = change(new, false).unwrap();
        assert_eq!(update.action, Action::Change);
        write(update);
        let written = fs::read_to_string(&path).unwrap();
        assert!(written.contains(new.trim_start_matches("---\n")), "{written}");
        assert_eq!(written.starts_with("---\n"), name == "rag.md", "{written}");
        // Another version removes what this one wrote.
        assert_eq!(change(old, true).unwrap().action, Action::Delete);
        fs::write(&path, written + "Mine.\n").unwrap();
        for remove in [false, true] {
            assert_eq!(change(old, remove).unwrap().action, Action::Keep);
        }
        fs::write(&path, "mine\n").unwrap();
        assert_eq!(change(new, false).unwrap().action, Action::Keep);
        // With --replace, it is given back by --remove.
        let replaced = Planned::file(path.clone(), new).change(&records, false, true).unwrap().unwrap();
        write(replaced);
        let back = change(new, true).unwrap();
        assert_eq!(back.action, Action::Restore);
        write(back);
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine\n");
    }
}

#[test]
#[cfg(unix)]
fn odd_files_are_refused() {
    use std::os::unix::fs::symlink;
    let place = Place::new(None);
    let planned = |path: &Path| Planned { path: path.to_owned(), ..place.planned("") };
    let odd = place.folder.path().join("link");
    symlink("nowhere", &odd).unwrap();
    assert!(planned(&odd).change(&place.records, false, false).unwrap_err().is(CONFIG_UNREADABLE));
    assert!(planned(place.folder.path()).change(&place.records, false, false).unwrap_err().is(CONFIG_UNREADABLE));
}
