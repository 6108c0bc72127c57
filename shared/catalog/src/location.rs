//! Where a catalog is, and how a document's path reads from there.

use std::{
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

use ragmaker_tool::{ARGUMENT_ERROR, Error};

/// The environment variable that names the project's folder.
pub(crate) const PROJECT_ROOT: &str = "RAGMAKER_PROJECT_ROOT";

/// The catalog's place within a knowledge base.
const IN_KNOWLEDGE_BASE: &str = "cache/catalog.json";

/// The knowledge base that work in progress fills, within the project's folder.
const IN_PROJECT: &str = ".tmp";

/// The catalog file that the arguments name, given the value of [`PROJECT_ROOT`].
pub(crate) fn choose(
    kb_root: Option<&Path>,
    catalog_path: Option<&Path>,
    project: Option<OsString>,
) -> Result<PathBuf, Error> {
    for (argument, given) in [("--kb-root", kb_root), ("--catalog-path", catalog_path)] {
        if given.is_some_and(|path| path.as_os_str().is_empty()) {
            return Err(ARGUMENT_ERROR.error(format!("{argument} is empty")).detail("argument", argument));
        }
    }
    match (kb_root, catalog_path) {
        (Some(_), Some(_)) => Err(ARGUMENT_ERROR
            .error("--kb-root and --catalog-path both name the catalog")
            .remedy("Give one of the two.")
            .detail("argument", "--catalog-path")),
        (None, Some(file)) if names_folder(file) => Err(ARGUMENT_ERROR
            .error(format!("--catalog-path {} names a folder", file.display()))
            .remedy("Give the file, such as kb/cache/catalog.json, or the knowledge base's folder as --kb-root.")
            .detail("argument", "--catalog-path")),
        (None, Some(file)) => Ok(file.to_owned()),
        (Some(root), None) => Ok(root.join(IN_KNOWLEDGE_BASE)),
        (None, None) => Ok(PathBuf::from(project.unwrap_or_default()).join(IN_PROJECT).join(IN_KNOWLEDGE_BASE)),
    }
}

/// Whether `path` is written as only a folder can be: `x/`, `.`, `..`, `/`.
fn names_folder(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    path.file_name().is_none() || text.last().is_some_and(|&b| std::path::is_separator(char::from(b)))
}

/// `file` as seen from `folder`, an absolute path without links, with forward slashes.
pub(crate) fn relative(file: &Path, folder: &Path) -> Result<String, Error> {
    let refuse = |reason: &str| {
        ARGUMENT_ERROR
            .error(format!("the document {} can not be recorded: {reason}", file.display()))
            .detail("path", file.to_string_lossy())
    };
    let name = file.file_name().ok_or_else(|| refuse("it is not a file"))?;
    // The folder alone: a document that is a link is recorded under its own name.
    let parent = std::path::absolute(file).and_then(|file| fs::canonicalize(file.parent().unwrap_or(&file)));
    let parent = parent.map_err(|error| refuse(&format!("its folder: {error}")))?;
    steps(&parent.join(name), folder).ok_or_else(|| refuse("its path is not UTF-8"))
}

/// The way from `folder` to `file`, both absolute; `file` itself where no way leads there; `None`
/// where it is not UTF-8.
fn steps(file: &Path, folder: &Path) -> Option<String> {
    let (to, from): (Vec<_>, Vec<_>) = (file.components().collect(), folder.components().collect());
    let shared = to.iter().zip(&from).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        // Another drive. `\\?\` marks a path that skips Windows' parsing; other programs do not know it.
        return Some(file.to_str()?.trim_start_matches(r"\\?\").replace('\\', "/"));
    }
    let down = to[shared..].iter().map(|component| match component {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let up = from[shared..].iter().map(|_| Some(".."));
    Some(up.chain(down).collect::<Option<Vec<_>>>()?.join("/"))
}
