//! `ragmaker-cache-cleanup`: moves files that are not part of a knowledge base from its folder to the trash.

use std::{collections::BTreeSet, path::Path};

use argh::{ArgsInfo, FromArgs};
use ragmaker_catalog::{Catalog, Contents};
use ragmaker_files::{Cleared, PATH_NOT_WRITABLE, Roots, clear, lossy_text};
use ragmaker_project::{
    is_of_sessions,
    knowledge_base::{catalog_of, is_gathered},
};
use ragmaker_tool::{Annotations, Budget, Code, Error, Invocation, JsonSchema, Tool, host};
use serde::Serialize;

/// Clean up the folder of a finished knowledge base: files that do not belong to it, such as downloads and drafts, move
/// to the trash. Catalog, documents, reports and browser sign-ins stay. To start again use `ragmaker-init-cache`.
/// Returns what was moved and what was kept.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// folder of the knowledge base, or its cache folder
    #[argh(option)]
    pub target_dir: String,
}

/// The folder of the catalog as it is now.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path of the folder.
    pub target_directory: String,
    /// The moved and the kept entries.
    #[serde(flatten)]
    pub cleared: Cleared,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const OPERANDS: &'static [&'static str] = &["--target-dir"];
    const ERRORS: &'static [&'static [Code]] = &[
        ragmaker_catalog::READ_ERRORS,
        &[ragmaker_catalog::CATALOG_LOCKED, ragmaker_catalog::CATALOG_NOT_WRITABLE],
        ragmaker_files::CLEAR_ERRORS,
        ragmaker_files::PATH_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let roots = Roots::discover(&invocation.host)?;
        let catalog = Catalog::at(catalog_of(&roots.directory_to_write(&self.target_dir)?))?;
        // Without a readable catalog nobody can say what belongs to the knowledge base.
        catalog.read()?;
        let folder = catalog.folder().unwrap_or_default();
        // The catalog may be a link to one elsewhere.
        roots.directory_to_write(&folder.to_string_lossy())?;
        if let Some(root) = roots.all().iter().find(|root| root.path == folder) {
            return Err(PATH_NOT_WRITABLE
                .error(format!("{} is a root itself: its other files may be needed", root.path.display()))
                .remedy("Move the knowledge base into a folder of its own with ragmaker-install-knowledge-base.")
                .detail("path", folder.to_string_lossy()));
        }
        // Other writers wait, so that a document that is being added is known here.
        let _lock = catalog.lock()?;
        let contents = catalog.read()?;
        let listed = listed_names(&catalog, &contents, &folder);
        let stays =
            |name: &str| name.starts_with('.') || is_gathered(name) || is_of_sessions(name) || listed.contains(name);
        let mut answer = Answer { target_directory: lossy_text(folder.clone()).0, cleared: Cleared::default() };
        answer.cleared = clear(&roots, &folder, stays, Budget::for_frame(&answer))?;
        Ok(answer)
    }
}

/// The names of the entries of `folder` that are, or contain, documents of the catalog.
fn listed_names(catalog: &Catalog, contents: &Contents, folder: &Path) -> BTreeSet<String> {
    let files = catalog.listed_files(contents);
    let names = files.iter().filter_map(|file| file.strip_prefix(folder).ok()?.iter().next());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::HostOptions;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_entries_of_a_folder_that_contain_documents_are_found() {
        let (_holder, root) = folder("kb");
        let paths = ["pages/deep/a.txt", "b.md", "none/c.md", "../beside/d.md", "../cache/e.txt", "cache-2/f.md"];
        for path in paths.iter().filter(|path| !path.starts_with("none")) {
            write(&root, &format!("cache/{path}"), "");
        }
        let listed: Vec<_> = paths.iter().map(|path| json!({"path": path})).chain([json!({"url": "u"})]).collect();
        let file = write(&root, "cache/catalog.json", json!({"documents": listed}).to_string());
        let catalog = Catalog::at(file).unwrap();
        let names = listed_names(&catalog, &catalog.read().unwrap(), &root.join("cache"));
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["b.md", "cache-2", "e.txt", "pages"]);
    }

    #[test]
    fn a_root_is_not_cleaned_up_itself() {
        let (_holder, root) = folder("project");
        let other = root.with_file_name("other");
        for root in [&root, &other] {
            write(root, "kb/cache/catalog.json", r#"{"documents": []}"#);
            write(root, "kb/cache/notes.txt", "");
        }
        // The folder of the catalog is a root, also if the folder above it is named.
        let host = HostOptions {
            project_root: root.to_str().map(str::to_owned),
            allow_root: ["kb", "kb/cache"].map(|folder| format!("rw={}", other.join(folder).display())).into(),
            ..HostOptions::default()
        };
        for folder in ["kb", "kb/cache"] {
            let target_dir = other.join(folder).display().to_string();
            let invocation = Invocation { host: host.clone(), ..Invocation::default() };
            let error = Args { target_dir }.run(&invocation).err().unwrap();
            assert!(error.is(PATH_NOT_WRITABLE) && error.message().contains("is a root itself"), "{error}");
        }
        assert!(fs::exists(other.join("kb/cache/notes.txt")).unwrap());
    }
}
