//! Error codes for catalogs that cannot be read or changed.

use std::{fmt::Display, path::Path};

use ragmaker_tool::{Code, Error};

/// The file is not a catalog; it was left as it is.
pub const CATALOG_CORRUPT: Code = Code::new(
    "CATALOG_CORRUPT",
    "The file is unchanged. Repair it at that line, or move it away; then a new one is created.",
);
/// Other writers held the lock for the whole waiting time.
pub const CATALOG_LOCKED: Code =
    Code::new("CATALOG_LOCKED", "Another process is writing the catalog: let it end, then call again.");
/// There is no catalog.
pub const CATALOG_NOT_FOUND: Code =
    Code::new("CATALOG_NOT_FOUND", "Name the folder of a knowledge base, or gather one first.");
/// There is something in the catalog's place that cannot be read as a file.
pub const CATALOG_NOT_READABLE: Code =
    Code::new("CATALOG_NOT_READABLE", "Give the path of a catalog.json that is a regular file or does not exist yet.");
/// The changed catalog could not be written; the file is as it was.
pub const CATALOG_NOT_WRITABLE: Code = Code::new(
    "CATALOG_NOT_WRITABLE",
    "The catalog is unchanged. Check the permissions of its folder and the space on its disk.",
);

/// Every code that a change of a catalog can fail with, apart from [`ragmaker_tool::ARGUMENT_ERROR`].
pub const ERRORS: &[Code] = &[CATALOG_CORRUPT, CATALOG_LOCKED, CATALOG_NOT_READABLE, CATALOG_NOT_WRITABLE];

/// Every code that reading a catalog can fail with.
pub const READ_ERRORS: &[Code] = &[CATALOG_NOT_FOUND, CATALOG_CORRUPT, CATALOG_NOT_READABLE];

pub(crate) fn not_readable(file: &Path, reason: &dyn Display) -> Error {
    CATALOG_NOT_READABLE
        .error(format!("the catalog {} cannot be read: {reason}", file.display()))
        .detail("path", file.to_string_lossy())
}

pub(crate) fn not_writable(file: &Path, reason: &dyn Display) -> Error {
    CATALOG_NOT_WRITABLE
        .error(format!("the catalog {} cannot be written: {reason}", file.display()))
        .detail("path", file.to_string_lossy())
}
