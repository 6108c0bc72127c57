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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_name_one_catalog() {
        let choose = |root: Option<&str>, file: Option<&str>, project: Option<&str>| {
            choose(root.map(Path::new), file.map(Path::new), project.map(OsString::from))
        };
        assert_eq!(choose(Some("kb"), None, Some("/p")).unwrap(), Path::new("kb/cache/catalog.json"));
        assert_eq!(choose(None, Some("kb/c.json"), Some("/p")).unwrap(), Path::new("kb/c.json"));
        assert_eq!(choose(None, None, Some("/p")).unwrap(), Path::new("/p/.tmp/cache/catalog.json"));
        for none in [None, Some("")] {
            assert_eq!(choose(None, None, none).unwrap(), Path::new(".tmp/cache/catalog.json"));
        }
        for (root, file, argument) in [
            (Some("kb"), Some("c.json"), "--catalog-path"),
            (Some(""), None, "--kb-root"),
            (None, Some(""), "--catalog-path"),
            (None, Some("kb/"), "--catalog-path"),
            (None, Some(".."), "--catalog-path"),
            (None, Some("/"), "--catalog-path"),
        ] {
            let error = choose(root, file, None).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR));
            assert_eq!(error.details()["argument"], argument);
        }
    }

    #[test]
    fn a_document_is_seen_from_the_catalog() {
        for (file, expected) in [
            ("/kb/cache/pages/a b.md", "pages/a b.md"),
            ("/kb/cache/a.md", "a.md"),
            ("/kb/日本/a.md", "../日本/a.md"),
            ("/a.md", "../../a.md"),
        ] {
            assert_eq!(steps(Path::new(file), Path::new("/kb/cache")).as_deref(), Some(expected));
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_on_the_way_do_not_mislead() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("kb/cache")).unwrap();
        fs::create_dir_all(root.join("store/deep")).unwrap();
        std::os::unix::fs::symlink(root.join("store/deep"), root.join("kb/pages")).unwrap();
        let seen = |file: &str| relative(&root.join(file), &root.join("kb/cache"));
        assert_eq!(seen("kb/pages/a.md").unwrap(), "../../store/deep/a.md");
        assert_eq!(seen("kb/pages/../a.md").unwrap(), "../../store/a.md");
        assert!(seen("kb/none/a.md").unwrap_err().is(ARGUMENT_ERROR));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_json_can_not_hold_is_refused() {
        use std::os::unix::ffi::OsStrExt;
        let temporary = tempfile::tempdir().unwrap();
        let name = std::ffi::OsStr::from_bytes(b"\xff.md");
        let error = relative(&temporary.path().join(name), temporary.path()).unwrap_err();
        assert!(error.is(ARGUMENT_ERROR) && error.message().contains("not UTF-8"), "{error}");
    }
}
