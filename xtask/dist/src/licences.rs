//! The licences of all dependencies, with their texts.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use anyhow::{Context, ensure};

use crate::packages::Linked;

/// How the names of files with licences and notices begin, in lower case.
const NAMES: [&str; 6] = ["license", "licence", "copying", "copyright", "notice", "unlicense"];

/// The list of packages that are not of this workspace, with licence expressions, and each text once.
///
/// # Errors
///
/// A package has no licence, or a file cannot be read.
pub fn text(linked: &[Linked]) -> anyhow::Result<String> {
    let mut list = String::from("ragmaker contains these packages:\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Linked { package, .. } in linked.iter().filter(|linked| linked.package.source.is_some()) {
        let name = format!("{} {}", package.name, package.version);
        let expression = package.license.as_deref().or(package.license_file.as_ref().map(|_| "see its text"));
        let expression = expression.with_context(|| format!("{name} has no licence"))?;
        let address = package.repository.as_deref().unwrap_or_default();
        writeln!(list, "{name}: {expression} {address}")?;
        let folder = package.manifest_path.parent().context("a manifest is in a folder")?;
        let own = texts_in(folder.as_std_path())?;
        if own.is_empty() {
            writeln!(list, "    (the package has no licence text)")?;
        }
        for text in own {
            texts.entry(text).or_default().push(name.clone());
        }
        if !package.authors.is_empty() {
            writeln!(list, "    by {}", package.authors.join(", "))?;
        }
    }
    ensure!(!texts.is_empty(), "there are no licence texts: run cargo fetch");
    for (text, names) in texts {
        write!(list, "\n{}\n{}\n\n{text}\n", "=".repeat(80), names.join(", "))?;
    }
    Ok(list)
}

/// The texts of licences and notices in the folder of a package.
fn texts_in(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut paths = vec![];
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_file() && NAMES.iter().any(|beginning| name.starts_with(beginning)) {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: &Path| -> anyhow::Result<String> {
        let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(String::from_utf8_lossy(&text).replace("\r\n", "\n").trim().to_owned())
    };
    paths.iter().map(|path| read(path)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A package in `folder` with this licence, whose files are written.
    fn package(folder: &Path, name: &str, license: Option<&str>, files: &[(&str, &str)]) -> Linked {
        let own = folder.join(name);
        fs::create_dir_all(&own).unwrap();
        for (file, text) in files {
            fs::write(own.join(file), text).unwrap();
        }
        let package = json!({
            "name": name, "version": "1.0.0", "id": name, "source": "registry+https://x.example", "license": license,
            "dependencies": [], "targets": [], "features": {}, "manifest_path": own.join("Cargo.toml"),
            "authors": ["A. Uthor"], "repository": "https://x.example/r",
        });
        Linked { package: serde_json::from_value(package).unwrap(), dependencies: vec![] }
    }

    #[test]
    fn each_text_is_there_once_below_the_packages_that_have_it() {
        let folder = tempfile::tempdir().unwrap();
        let one =
            package(folder.path(), "one", Some("MIT"), &[("LICENSE-MIT", "The text\r\nof it\n"), ("main.rs", "no")]);
        let two = package(folder.path(), "two", Some("MIT"), &[("license", "The text\nof it"), ("NOTICE.txt", "Note")]);
        let bare = package(folder.path(), "bare", Some("MIT"), &[]);
        let text = text(&[one, two, bare]).unwrap();
        assert_eq!(text.matches("The text\nof it\n").count(), 1);
        assert!(text.contains("\none 1.0.0, two 1.0.0\n\nThe text") && text.contains("\ntwo 1.0.0\n\nNote"), "{text}");
        assert!(text.contains("bare 1.0.0: MIT https://x.example/r\n    (the package has no licence text)"), "{text}");
        assert!(!text.contains("\nno\n"), "{text}");
    }

    #[test]
    fn a_package_without_a_licence_and_a_release_without_texts_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let none = package(folder.path(), "none", None, &[("LICENSE", "text")]);
        assert!(text(&[none]).unwrap_err().to_string().contains("none 1.0.0 has no licence"));
        assert!(text(&[package(folder.path(), "bare", Some("MIT"), &[])]).is_err());
    }
}
