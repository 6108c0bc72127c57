//! The ignore files, and their precedence.
//!
//! Ignore files are read from the top of the repository that contains the project (or from the project root, without a
//! repository) down to the directory of a path. The kind of an ignore file decides first, highest precedence first:
//! `.ragmakerignore`, `.geminiignore`, `.ignore`, `.gitignore`, the repository's `info/exclude`, and git's
//! configuration for all repositories (`core.excludesFile`). Among files of one kind, the file nearest to the path
//! decides, and in this file the last matching pattern.

use std::{
    env, fs,
    io::Read,
    path::{Path, PathBuf},
};

/// The ignore files that a directory may have, the one with the last word last.
pub const IGNORE_FILES: [&str; 4] = [".gitignore", ".ignore", ".geminiignore", ".ragmakerignore"];

/// The maximum number of ignore files of a directory, including that of a repository.
pub(crate) const KINDS: usize = IGNORE_FILES.len() + 1;

/// The largest ignore file that is read (1 MiB).
const MAX_SIZE: u64 = 1 << 20;

/// An ignore file with its content.
#[derive(Clone, Debug)]
pub(crate) struct IgnoreFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl IgnoreFile {
    /// Reads the file, if it exists. Files that are not regular are skipped, because reading them may block or never
    /// end.
    fn read(path: PathBuf) -> Option<Self> {
        let metadata = fs::metadata(&path).ok()?;
        if !metadata.is_file() || metadata.len() > MAX_SIZE {
            return None;
        }
        let mut bytes = vec![];
        fs::File::open(&path).ok()?.take(MAX_SIZE).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes)).into_owned();
        Some(Self { path, text })
    }
}

/// The ignore files of `directory`, by kind, the strongest kind first.
pub(crate) fn of_directory(directory: &Path) -> [Option<IgnoreFile>; KINDS] {
    let mut found = [const { None }; KINDS];
    for (place, name) in found.iter_mut().zip(IGNORE_FILES.iter().rev()) {
        *place = IgnoreFile::read(directory.join(name));
    }
    found[KINDS - 1] = common_directory(directory).and_then(|git| IgnoreFile::read(git.join("info/exclude")));
    found
}

/// The folder that the work trees of a Git repository share, if `directory` is the top of a work tree.
fn common_directory(directory: &Path) -> Option<PathBuf> {
    let git = directory.join(".git");
    let metadata = fs::metadata(&git).ok()?;
    if metadata.is_dir() {
        return Some(git);
    }
    // In a submodule and in a work tree of its own, it is a file that says where.
    let said = IgnoreFile::read(git)?.text;
    let own = directory.join(said.lines().next()?.strip_prefix("gitdir:")?.trim());
    match IgnoreFile::read(own.join("commondir")) {
        Some(common) => Some(own.join(common.text.trim())),
        None => Some(own),
    }
}

/// The directory from which on ignore files count for the project at `root`.
pub(crate) fn top(root: &Path) -> &Path {
    root.ancestors().find(|directory| directory.join(".git").symlink_metadata().is_ok()).unwrap_or(root)
}

/// The ignore file that git's configuration names for all repositories.
pub(crate) fn for_all() -> Option<IgnoreFile> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = env::home_dir();
    let xdg = variable("XDG_CONFIG_HOME").or(home.as_ref().map(|home| home.join(".config")));
    let system = variable("GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from("/etc/gitconfig"));
    let configurations = if let Some(global) = variable("GIT_CONFIG_GLOBAL") {
        [Some(global), None, Some(system)]
    } else {
        let own = home.as_ref().map(|home| home.join(".gitconfig"));
        [own, xdg.as_ref().map(|xdg| xdg.join("git/config")), Some(system)]
    };
    let mut named = None;
    for path in configurations.into_iter().flatten() {
        if let Some(file) = IgnoreFile::read(path)
            && let Some(value) = excludes_file(&file.text)
        {
            named = Some(value.to_owned());
            break;
        }
    }
    let path = match named {
        Some(named) => match (named.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(named),
        },
        None => xdg?.join("git/ignore"),
    };
    path.is_absolute().then(|| IgnoreFile::read(path)).flatten()
}

/// The value of `core.excludesFile` in the text of a configuration file of git's.
fn excludes_file(text: &str) -> Option<&str> {
    let mut in_core = false;
    let mut value = None;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            in_core = section.trim_start().get(..4).is_some_and(|name| name.eq_ignore_ascii_case("core"))
                && section.trim_start()[4..].trim_start().starts_with(']');
        } else if in_core
            && let Some((name, said)) = line.split_once('=')
            && name.trim().eq_ignore_ascii_case("excludesfile")
        {
            value = Some(said.trim().trim_matches('"').trim());
        }
    }
    value.filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_of_git() {
        for (text, expected) in [
            ("[core]\n\texcludesFile = ~/.ignore\n", Some("~/.ignore")),
            ("[user]\nname = x\n[Core]\n  excludesfile=\"/a b\"\n[alias]\nexcludesfile = no", Some("/a b")),
            ("[core]\nexcludesfile = /a\nexcludesfile = /b\n", Some("/b")),
            ("[core \"x\"]\nexcludesfile = /a\n", None),
            ("[corex]\nexcludesfile = /a\n[日本]\n", None),
            ("[core]\n# excludesfile = /a\nexcludesfile =\n", None),
        ] {
            assert_eq!(excludes_file(text), expected, "{text}");
        }
    }
}
