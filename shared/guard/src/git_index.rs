//! The files that a Git repository tracks, read from its index, to find those with keys among them.

use std::{fs, path::Path};

use ragmaker_project::secrets::is_secret_file;

/// The length of an entry before its name, and of the checksum at the end.
const FIXED: usize = 62;
const CHECKSUM: usize = 20;

/// The first file with a name of keys that the index of the repository directory `own` tracks. An index that is not
/// understood counts as one with such a file.
pub(crate) fn tracked_secret(own: &Path) -> Option<String> {
    let Ok(bytes) = fs::read(own.join("index")) else { return None };
    let Some(names) = names(&bytes) else { return Some("files that cannot be listed".to_owned()) };
    names.into_iter().find(|name| is_secret_file(name.rsplit('/').next().unwrap_or(name)))
}

/// The names in an index; `None` if it is not understood.
fn names(bytes: &[u8]) -> Option<Vec<String>> {
    let number = |at: usize| bytes.get(at..at + 4).map(|four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]));
    let version = number(4).filter(|version| bytes.starts_with(b"DIRC") && (2..=4).contains(version))?;
    let (mut at, mut names, mut previous) = (12, vec![], Vec::<u8>::new());
    for _ in 0..number(8)? {
        let is_extended = version >= 3 && bytes.get(at + 60)? & 0x40 != 0;
        let start = at + FIXED + if is_extended { 2 } else { 0 };
        let (kept, start) = if version == 4 { prefix(bytes, start, previous.len())? } else { (0, start) };
        let length = bytes.get(start..)?.iter().position(|byte| *byte == 0)?;
        let mut name = previous[..kept].to_vec();
        name.extend_from_slice(&bytes[start..start + length]);
        names.push(String::from_utf8_lossy(&name).into_owned());
        let end = start + length;
        // Up to version 3, an entry is filled with zeros to a multiple of eight bytes.
        at = if version == 4 { end + 1 } else { at + (end - at) / 8 * 8 + 8 };
        previous = name;
    }
    // What follows are extensions and a checksum. Another length of the checksum is another format of the entries, too.
    let end = bytes.len().checked_sub(CHECKSUM)?;
    while at < end {
        // A split index has its other entries in another file.
        if bytes.get(at..at + 4)? == b"link" {
            return None;
        }
        at += 8 + usize::try_from(number(at + 4)?).ok()?;
    }
    (at == end).then_some(names)
}

/// The length of the beginning that a name shares with the one before it, whose length is `before`, and where the rest
/// begins.
fn prefix(bytes: &[u8], mut at: usize, before: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut left_out = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        left_out = (left_out.checked_add(1)?.checked_mul(128)?) | usize::from(byte & 0x7f);
    }
    Some((before.checked_sub(left_out)?, at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn tracked_files_are_found_in_every_version_of_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let git = Command::new("git").args(arguments).current_dir(folder.path()).output().unwrap();
            assert!(git.status.success(), "{git:?}");
        };
        git(&["init", "-q"]);
        fs::create_dir_all(folder.path().join("api/deep")).unwrap();
        for name in ["a.md", "api/deep/ab.md", "api/deep/abc.md", "api/zz.md", "éa.md"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let own = folder.path().join(".git");
        assert_eq!(tracked_secret(&own), None);
        git(&["add", "."]);
        git(&["add", "-N", "."]);
        for version in ["2", "3", "4"] {
            git(&["update-index", "--index-version", version]);
            let names = names(&fs::read(own.join("index")).unwrap()).unwrap();
            assert_eq!(names, ["a.md", "api/deep/ab.md", "api/deep/abc.md", "api/zz.md", "éa.md"], "{version}");
        }
        fs::write(folder.path().join("api/.env"), "x").unwrap();
        git(&["add", "-N", "api/.env"]);
        for version in ["4", "2"] {
            git(&["update-index", "--index-version", version]);
            assert_eq!(tracked_secret(&own).as_deref(), Some("api/.env"));
        }
        git(&["update-index", "--split-index"]);
        assert!(tracked_secret(&own).is_some());
        fs::remove_dir_all(&own).unwrap();
        git(&["init", "-q", "--object-format=sha256"]);
        git(&["add", "a.md"]);
        assert!(tracked_secret(&own).is_some());
        fs::write(own.join("index"), "DIRC").unwrap();
        assert!(tracked_secret(&own).is_some());
    }
}
