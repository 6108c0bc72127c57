//! Clearing a folder: moving entries of it to the trash, and keeping the others.

use std::path::Path;

use ragmaker_tool::{Budget, Code, Error, JsonSchema};
use serde::Serialize;

use crate::{
    ALREADY_EXISTS, CROSS_DEVICE, DIRECTORY_NOT_EMPTY, Deleted, ExpectedKind, IS_A_DIRECTORY, NOT_A_DIRECTORY,
    PATH_NOT_WRITABLE, Roots, delete, io_error,
};

/// The error codes of [`clear`], without [`PATH_ERRORS`](crate::PATH_ERRORS).
pub const CLEAR_ERRORS: &[Code] =
    &[PATH_NOT_WRITABLE, IS_A_DIRECTORY, NOT_A_DIRECTORY, ALREADY_EXISTS, CROSS_DEVICE, DIRECTORY_NOT_EMPTY];

/// The entries of a folder that were moved, and those that were kept.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Cleared {
    /// The entries that were moved to the trash.
    pub trashed: Vec<Trashed>,
    /// The names of what was kept.
    pub kept: Vec<String>,
    /// The number of moved entries.
    pub total: usize,
    /// Whether some entries are not listed here.
    pub truncated: bool,
}

/// An entry that was moved to the trash.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Trashed {
    /// Its name in the folder.
    pub name: String,
    /// Its place in the trash.
    pub trashed_to: Option<String>,
}

/// Moves the entries of `folder` to the trash, except for those whose names `stays` accepts and those whose names are
/// not UTF-8. What is listed in the answer fits into `budget`.
///
/// # Errors
///
/// [`CLEAR_ERRORS`] and [`PATH_ERRORS`](crate::PATH_ERRORS). The entries moved before an error stay in the trash.
pub fn clear(roots: &Roots, folder: &Path, stays: impl Fn(&str) -> bool, mut budget: Budget) -> Result<Cleared, Error> {
    let failed = |error: std::io::Error| io_error(&error, folder);
    let (mut leaving, mut kept) = (vec![], vec![]);
    for entry in folder.read_dir().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind =
            if entry.file_type().map_err(failed)?.is_dir() { ExpectedKind::Directory } else { ExpectedKind::File };
        match entry.file_name().into_string() {
            Ok(name) if !stays(&name) => leaving.push((name, kind)),
            Ok(name) => kept.push(name),
            Err(name) => kept.push(name.to_string_lossy().into_owned()),
        }
    }
    leaving.sort_by(|(one, _), (other, _)| one.cmp(other));
    kept.sort();
    let mut trashed = vec![];
    for (name, kind) in leaving {
        let path = folder.join(&name);
        let Deleted { trashed_to, .. } = delete(roots, &path.to_string_lossy(), kind, false)?;
        trashed.push(Trashed { name, trashed_to });
    }
    let (total, all) = (trashed.len(), kept.len());
    let (trashed, kept) = (budget.take_list(trashed), budget.take_list(kept));
    let truncated = trashed.len() < total || kept.len() < all;
    Ok(Cleared { trashed, kept, total, truncated })
}
