//! The location of a catalog, and the form of a document's path in it.

use std::path::{Component, Path, PathBuf};

use ragmaker_files::{Roots, check_start};
use ragmaker_project::{Project, knowledge_base};
use ragmaker_tool::{ARGUMENT_ERROR, Caller, Error, Invocation};

use crate::CATALOG_NOT_WRITABLE;

/// The purpose for which a catalog is located.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read it and the documents that it lists.
    Read,
    /// To change it.
    Write,
}

/// The catalog file that the arguments name; without arguments, the one in the project's cache folder.
pub(crate) fn locate(
    kb_root: Option<&Path>,
    catalog_path: Option<&Path>,
    access: Access,
    invocation: &Invocation,
) -> Result<PathBuf, Error> {
    let Some(named) = choose(kb_root, catalog_path)? else {
        let project = Project::discover(invocation.host.project_root.as_deref())?;
        // A path that JSON cannot contain is refused by `Catalog::at`, before anything is made.
        if access == Access::Write && project.root().to_str().is_some() {
            project.create_cache_folder().map_err(|error| {
                CATALOG_NOT_WRITABLE
                    .error(format!("cannot make the cache folder {}: {error}", project.cache_folder().display()))
                    .detail("path", project.cache_folder().to_string_lossy())
            })?;
        }
        return Ok(project.cache_folder().join(knowledge_base::CATALOG));
    };
    if invocation.caller == Caller::Person {
        let file = named.file();
        return check_start(&file).map(|()| file);
    }
    // A model's word is confined to the project and the allowed roots.
    let roots = Roots::discover(&invocation.host)?;
    let CatalogArgument::KnowledgeBase(root) = named else {
        return confined(&roots, &named.file(), access);
    };
    let text = root.to_string_lossy();
    let root = match access {
        Access::Read => roots.place_or_missing(&text)?,
        // The refusal names the roots that may be written. The root of the project may be a knowledge base as well.
        Access::Write => roots.place_or_missing(&text).or_else(|_| roots.place_to_write(&text))?,
    };
    let root = root.path();
    confined(&roots, &knowledge_base::catalog_of(&root), access)
}

fn confined(roots: &Roots, file: &Path, access: Access) -> Result<PathBuf, Error> {
    let text = file.to_string_lossy();
    let place = match access {
        Access::Read => roots.place_or_missing(&text),
        Access::Write => roots.place_to_write(&text),
    };
    Ok(place?.path())
}

/// The argument that names the catalog.
#[derive(Debug, PartialEq, Eq)]
enum CatalogArgument<'a> {
    File(&'a Path),
    KnowledgeBase(&'a Path),
}

impl CatalogArgument<'_> {
    fn file(&self) -> PathBuf {
        match self {
            Self::File(file) => (*file).to_owned(),
            Self::KnowledgeBase(root) => knowledge_base::catalog_of(root),
        }
    }
}

fn choose<'a>(kb_root: Option<&'a Path>, catalog_path: Option<&'a Path>) -> Result<Option<CatalogArgument<'a>>, Error> {
    for (argument, given) in [("--kb-root", kb_root), ("--catalog-path", catalog_path)] {
        if given.is_some_and(|path| path.as_os_str().is_empty()) {
            return Err(ARGUMENT_ERROR.error(format!("{argument} is empty")).detail("argument", argument));
        }
    }
    match (kb_root, catalog_path) {
        (Some(_), Some(_)) => Err(ARGUMENT_ERROR
            .error("--kb-root and --catalog-path cannot be combined")
            .remedy("Give one of the two.")
            .detail("argument", "--catalog-path")),
        (None, Some(file)) if names_folder(file) => Err(ARGUMENT_ERROR
            .error(format!("--catalog-path {} names a folder", file.display()))
            .remedy("Give the file, such as kb/cache/catalog.json, or the knowledge base's folder as --kb-root.")
            .detail("argument", "--catalog-path")),
        (None, Some(file)) => Ok(Some(CatalogArgument::File(file))),
        (Some(root), None) => Ok(Some(CatalogArgument::KnowledgeBase(root))),
        (None, None) => Ok(None),
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
            .error(format!("the document {} cannot be recorded: {reason}", file.display()))
            .detail("path", file.to_string_lossy())
    };
    let name = file.file_name().ok_or_else(|| refuse("it is not a file"))?;
    // The folder alone: a document that is a link is recorded under its own name.
    let parent = std::path::absolute(file).and_then(|file| ragmaker_fs::canonicalize(file.parent().unwrap_or(&file)));
    let parent = parent.map_err(|error| refuse(&format!("its folder: {error}")))?;
    steps(&parent.join(name), folder).ok_or_else(|| refuse("its path is not UTF-8"))
}

/// The relative path from `folder` to `file`, both absolute; `file` itself if there is no relative path; `None` if it
/// is not UTF-8.
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
    use ragmaker_tool::HostOptions;
    use std::fs;

    #[test]
    fn the_arguments_name_one_catalog() {
        let person = |project: &str| Invocation {
            host: HostOptions { project_root: Some(project.to_owned()), ..HostOptions::default() },
            ..Invocation::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        let person = person(project.to_str().unwrap());
        let locate = |root: Option<&str>, file: Option<&str>| {
            locate(root.map(Path::new), file.map(Path::new), Access::Write, &person)
        };
        assert_eq!(locate(Some("kb"), None).unwrap(), Path::new("kb/cache/catalog.json"));
        assert_eq!(locate(None, Some("kb/c.json")).unwrap(), Path::new("kb/c.json"));
        assert_eq!(locate(None, None).unwrap(), project.join(".tmp/cache/catalog.json"));
        assert!(project.join(".tmp/cache/.gitignore").is_file());
        // The layout with the catalog at the top, and the cache folder itself.
        fs::create_dir(project.join("old")).unwrap();
        fs::write(project.join("old/catalog.json"), "{}").unwrap();
        assert_eq!(locate(project.join("old").to_str(), None).unwrap(), project.join("old/catalog.json"));
        for (root, file, argument) in [
            (Some("kb"), Some("c.json"), "--catalog-path"),
            (Some(""), None, "--kb-root"),
            (None, Some(""), "--catalog-path"),
            (None, Some("kb/"), "--catalog-path"),
            (None, Some(".."), "--catalog-path"),
            (None, Some("/"), "--catalog-path"),
        ] {
            let error = locate(root, file).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR));
            assert_eq!(error.details()["argument"], argument);
        }
    }

    #[test]
    fn paths_from_a_model_are_confined() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(project.join("kb")).unwrap();
        let host = HostOptions { project_root: project.to_str().map(str::to_owned), ..HostOptions::default() };
        let model = Invocation { host, caller: Caller::Model, ..Invocation::default() };
        let locate = |root: Option<&str>, file: Option<&str>, access| {
            locate(root.map(Path::new), file.map(Path::new), access, &model)
        };
        for access in [Access::Read, Access::Write] {
            assert_eq!(locate(Some("kb"), None, access).unwrap(), project.join("kb/cache/catalog.json"));
            assert_eq!(locate(Some("."), None, access).unwrap(), project.join("cache/catalog.json"));
            assert_eq!(locate(None, Some("c.json"), access).unwrap(), project.join("c.json"));
            for (root, file) in [(Some("../kb"), None), (None, Some("../c.json")), (Some("/"), None)] {
                let error = locate(root, file, access).unwrap_err();
                assert!(error.is(ragmaker_files::PATH_NOT_ALLOWED), "{error}");
                let rule = error.details()["rule"].as_str().unwrap();
                let expected = if access == Access::Read { "reads stay" } else { "writes stay" };
                assert!(rule.starts_with(expected), "{rule}");
            }
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
    fn a_path_that_json_cannot_hold_is_refused() {
        use std::os::unix::ffi::OsStrExt;
        let temporary = tempfile::tempdir().unwrap();
        let name = std::ffi::OsStr::from_bytes(b"\xff.md");
        let error = relative(&temporary.path().join(name), temporary.path()).unwrap_err();
        assert!(error.is(ARGUMENT_ERROR) && error.message().contains("not UTF-8"), "{error}");
    }
}
