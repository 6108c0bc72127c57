//! Walking the files beneath a place, without ignored files.

use std::path::{Path, PathBuf};

use ignore::{
    DirEntry, WalkBuilder,
    overrides::{Override, OverrideBuilder},
};
use ragmaker_tool::{ARGUMENT_ERROR, Error};

use crate::{ResolvedPath, RootKind, catalog_access::Catalogued, ignored::IgnoredTree, io_error, is_gone, secrets};

/// The options for walking a tree.
#[derive(Clone, Copy, Debug, Default)]
pub struct Walk<'a> {
    /// Globs of files to keep; empty for all files.
    pub include: &'a [String],
    /// Globs of files to leave out.
    pub exclude: &'a [String],
    /// The maximum number of levels; `None` for all.
    pub depth: Option<usize>,
    /// Whether to keep what ignore files list.
    pub no_ignore: bool,
    /// Whether to keep names that begin with a dot.
    pub hidden: bool,
}

/// The result of a walk.
pub struct WalkResult {
    /// The paths that were selected.
    pub paths: Vec<PathBuf>,
    /// The directories that could not be read, with the reasons.
    pub unreadable: Vec<String>,
}

/// The paths of the tree at `place` for which `wanted` returns true. Entries that disappear during the walk are
/// skipped. It is an error if `place` itself cannot be read.
pub fn collect(
    place: &ResolvedPath,
    options: Walk<'_>,
    wanted: impl Fn(&DirEntry) -> bool,
) -> Result<WalkResult, Error> {
    let mut result = WalkResult { paths: vec![], unreadable: vec![] };
    for entry in walk(place, options)?.build() {
        match entry {
            Err(error) if error.io_error().is_some_and(is_gone) => {}
            Err(error) => match error.io_error() {
                Some(cause) if error.depth() == Some(0) => return Err(io_error(cause, &place.path())),
                _ => result.unreadable.push(error.to_string()),
            },
            Ok(entry) if wanted(&entry) => result.paths.push(entry.into_path()),
            Ok(_) => {}
        }
    }
    Ok(result)
}

/// Walks the tree at `place`; a place that is ignored is an error. Links are not followed, because their targets are
/// found at their own places.
pub fn walk(place: &ResolvedPath, walk: Walk<'_>) -> Result<WalkBuilder, Error> {
    let path = place.path();
    let mut builder = WalkBuilder::new(&path);
    // What is ignored is left to `IgnoredTree`: the crate's own way waits for a FIFO that is named as an
    // ignore file, and takes a glob that was asked for as permission to show what is ignored.
    builder.standard_filters(false).max_depth(walk.depth).hidden(!walk.hidden).follow_links(false);
    let mut globs = OverrideBuilder::new(&path);
    for pattern in walk.include {
        globs.add(&line(&path, pattern)?).map_err(|error| bad_glob(pattern, &error.to_string()))?;
    }
    for pattern in walk.exclude {
        let excluded = format!("!{}", line(&path, pattern)?);
        globs.add(&excluded).map_err(|error| bad_glob(pattern, &error.to_string()))?;
    }
    let ignored = if walk.no_ignore || place.root.kind != RootKind::ProjectRoot {
        None
    } else {
        place.check_ignored()?;
        Some(IgnoredTree::new(&place.root.path))
    };
    let catalogued = (place.root.kind == RootKind::Catalog).then(|| Catalogued::of(&place.root.path));
    builder.filter_entry(move |entry| {
        let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
        // Git's own directory is not content.
        entry.file_name() != ".git"
            && !(is_directory && secrets::is_profile(entry.path()))
            && !secrets::is_key_file(entry.path())
            && catalogued.as_ref().is_none_or(|catalogued| catalogued.opens(entry.path()))
            && (entry.depth() == 0
                || ignored.as_ref().is_none_or(|tree| tree.ignoring(entry.path(), is_directory).is_none()))
    });
    let globs = globs.build().map_err(|error| bad_glob("", &error.to_string()))?;
    builder.overrides(globs);
    Ok(builder)
}

/// A glob as it is matched against paths beneath a directory.
pub struct Glob(Override);

impl Glob {
    /// The glob `pattern` for paths beneath `base`; one without a slash matches names at any depth. It may start with `./` or
    /// with `base` itself.
    pub fn new(base: &Path, pattern: &str) -> Result<Self, Error> {
        let fail = |error: ignore::Error| bad_glob(pattern, &error.to_string());
        let mut builder = OverrideBuilder::new(base);
        builder.add(&line(base, pattern)?).map_err(fail)?;
        builder.build().map_err(fail).map(Self)
    }

    /// Whether a file at `path`, which is absolute, matches.
    pub fn matches(&self, path: &Path) -> bool {
        self.0.matched(path, false).is_whitelist()
    }
}

/// `pattern` as a line of an ignore file in `base`, where `!` and `#` at its start have another meaning, and a `/` is
/// `base`. An empty line would let everything pass, if it were the only one.
fn line(base: &Path, pattern: &str) -> Result<String, Error> {
    if pattern.trim().is_empty() {
        return Err(bad_glob(pattern, "it is empty"));
    }
    if pattern.split('/').any(|name| name == "..") {
        let error = bad_glob(pattern, "it has .. in it");
        return Err(error.remedy("Write the glob from the directory on that is searched."));
    }
    if let Some(rest) = pattern.strip_prefix("./").or_else(|| beneath(base, pattern)) {
        return Ok(format!("/{rest}"));
    }
    let escape = if pattern.starts_with(['!', '#']) { "\\" } else { "" };
    Ok(format!("{escape}{pattern}"))
}

/// The part of an absolute `pattern` after `base`.
fn beneath<'p>(base: &Path, pattern: &'p str) -> Option<&'p str> {
    pattern.strip_prefix(base.to_str()?)?.strip_prefix('/')
}

fn bad_glob(pattern: &str, reason: &str) -> Error {
    ARGUMENT_ERROR
        .error(format!("{pattern:?} is not a glob: {reason}"))
        .remedy("Write a glob such as **/*.md; * stays within a name and ** crosses directories.")
        .detail("glob", pattern)
}

/// `path` as text; what is not UTF-8 in it is shown as U+FFFD, and the second value says so.
pub fn lossy_text(path: PathBuf) -> (String, bool) {
    match path.into_os_string().into_string() {
        Ok(text) => (text, false),
        Err(raw) => (raw.to_string_lossy().into_owned(), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_means_itself_and_not_a_line_of_an_ignore_file() {
        let base = Path::new("/p");
        let matches = |pattern: &str, path: &str| Glob::new(base, pattern).unwrap().matches(&base.join(path));
        assert!(matches("*.md", "a/b.md") && !matches("*.md", "a/b.txt"));
        assert!(matches("a/*.md", "a/b.md") && !matches("a/*.md", "a/b/c.md"));
        assert!(matches("!a.md", "!a.md") && !matches("!a.md", "b.md"));
        assert!(matches("#a", "#a"));
        for pattern in ["./*.md", "/*.md", "/p/*.md"] {
            assert!(matches(pattern, "b.md") && !matches(pattern, "a/b.md"), "{pattern}");
        }
        assert!(matches("/p/**/b.md", "a/b.md") && !matches("/pq/*.md", "b.md"));
        for pattern in ["", "  ", "[a", "../*.md", "a/../*.md", ".."] {
            assert!(Glob::new(base, pattern).is_err_and(|error| error.is(ARGUMENT_ERROR)), "{pattern}");
        }
    }

    #[test]
    fn text_says_whether_it_was_changed() {
        assert_eq!(lossy_text("潮.md".into()), ("潮.md".to_owned(), false));
        #[cfg(unix)]
        {
            let path: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(vec![b'a', 0xff]);
            assert_eq!(lossy_text(path.into()), ("a\u{fffd}".to_owned(), true));
        }
    }
}
