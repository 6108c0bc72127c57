//! `ragmaker-export-knowledge-base`: writes a knowledge base to one file for other programs.

mod documents;
mod text;
mod wacz;

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_catalog::{Access, Catalog};
use ragmaker_files::{ALREADY_EXISTS, IS_A_DIRECTORY, Roots, io_error};
use ragmaker_fs::{Replace, write_atomically};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Budget, Caller, Code, Error, Invocation, Isolation, JsonSchema, Tool, choice, host,
};
use serde::{Deserialize, Serialize};

use crate::documents::{ExportedKnowledgeBase, SkippedDocument};

/// The knowledge base has no document that could be written.
pub const NO_DOCUMENTS: Code = Code::new("NO_DOCUMENTS", "Save documents first, or check the paths in the catalog.");

/// Write a knowledge base to one file for other programs: llms-txt (an index), markdown (all documents), jsonl (one
/// document per line) or wacz (a web archive). To copy it as it is use `ragmaker-install-knowledge-base`. Returns the
/// file, its size and what was left out.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// folder of the knowledge base
    #[argh(option)]
    pub kb_root: PathBuf,
    /// format of the file
    #[argh(option, from_str_fn(choice))]
    pub format: ExportFormat,
    /// file to write
    #[argh(option)]
    pub output: PathBuf,
    /// replace an existing file
    #[argh(switch)]
    pub overwrite: bool,
}

/// The form of an exported knowledge base.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are clear, and texts would turn the schema's list of choices into a union")]
pub enum ExportFormat {
    LlmsTxt,
    Jsonl,
    Wacz,
    Markdown,
}

/// A file that was written.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path of the file.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The number of documents in the file.
    pub documents: usize,
    /// Documents that are not in it, with the reason.
    pub left_out: Vec<SkippedDocument>,
    /// The number of documents that are not in the file.
    pub total: usize,
    /// Whether some of them are not listed here.
    pub truncated: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE;
    const HOST_OPTIONS: &'static [&'static str] = host::SAVING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const OPERANDS: &'static [&'static str] = &["--kb-root"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[NO_DOCUMENTS, ALREADY_EXISTS, ragmaker_files::NOT_A_REGULAR_FILE, ragmaker_files::PATH_NOT_WRITABLE],
        ragmaker_catalog::READ_ERRORS,
        ragmaker_files::IO_ERRORS,
        ragmaker_files::PATH_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let catalog = Catalog::locate(Some(&self.kb_root), None, Access::Read, invocation)?;
        let contents = catalog.read()?;
        let path = output(&self.output, invocation)?;
        if path.is_dir() {
            return Err(IS_A_DIRECTORY
                .error(format!("{} is a directory", path.display()))
                .remedy("Name a file as --output.")
                .detail("path", path.to_string_lossy()));
        }
        let source = ExportedKnowledgeBase::new(&catalog, contents, invocation)?;
        if source.documents.is_empty() {
            return Err(NO_DOCUMENTS
                .error(format!("{} lists no document that can be read", catalog.file().display()))
                .detail("path", catalog.file().to_string_lossy()));
        }
        if source.holds(&path, &catalog) {
            return Err(ARGUMENT_ERROR
                .error(format!("--output {} is a file of the knowledge base itself", path.display()))
                .detail("argument", "--output"));
        }
        let written = self.write(&path, &source).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => ALREADY_EXISTS
                .error(format!("{} exists already", path.display()))
                .remedy("Choose another --output, or replace the file with --overwrite.")
                .detail("path", path.to_string_lossy()),
            io::ErrorKind::InvalidInput => ragmaker_files::NOT_A_REGULAR_FILE
                .error(format!("{} is not a regular file", path.display()))
                .detail("path", path.to_string_lossy()),
            _ => io_error(&error, &path),
        });
        written?;
        let bytes = path.metadata().map_err(|error| io_error(&error, &path))?.len();
        let total = source.left_out.len();
        let path = std::path::absolute(&path).unwrap_or(path).to_string_lossy().into_owned();
        let mut answer =
            Answer { path, bytes, documents: source.documents.len(), left_out: vec![], total, truncated: false };
        let mut budget = Budget::for_frame(&answer);
        answer.left_out = budget.take_list(source.left_out);
        answer.truncated = answer.left_out.len() < total;
        Ok(answer)
    }
}

impl Args {
    fn write(&self, path: &Path, source: &ExportedKnowledgeBase) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let replace = Replace { create_only: !self.overwrite, ..Replace::default() };
        write_atomically(path, replace, |file| {
            let mut out = BufWriter::new(file);
            match self.format {
                ExportFormat::LlmsTxt => text::llms_txt(source, &mut out)?,
                ExportFormat::Jsonl => text::jsonl(source, &mut out)?,
                ExportFormat::Markdown => text::markdown(source, &mut out)?,
                ExportFormat::Wacz => wacz::write(source, &mut out)?,
            }
            out.flush()
        })?;
        Ok(())
    }
}

/// The file to write: as a person names it, or where a model may write.
fn output(path: &Path, invocation: &Invocation) -> Result<PathBuf, Error> {
    if path.file_name().is_none() {
        return Err(ARGUMENT_ERROR
            .error(format!("--output cannot be {:?}: it names no file", path.to_string_lossy()))
            .detail("argument", "--output"));
    }
    match invocation.caller {
        Caller::Person => Ok(path.to_owned()),
        Caller::Model => Ok(Roots::discover(&invocation.host)?.place_to_write(&path.to_string_lossy())?.path()),
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_files::PATH_NOT_ALLOWED;
    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::HostOptions;
    use serde_json::json;

    use super::*;

    /// A call in the project `root`.
    fn call(root: &Path, caller: Caller) -> Invocation {
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        Invocation { host, caller, ..Invocation::default() }
    }

    /// The answer to a person who exports the knowledge base `kb` of the project `root` to `output`.
    fn run(root: &Path, output: &Path, flags: &[&str]) -> Result<Answer, Error> {
        let (kb, output) = (root.join("kb"), output.to_str().unwrap());
        let words = ["--kb-root", kb.to_str().unwrap(), "--format", "jsonl", "--output", output];
        Args::from_args(&["export"], &[&words[..], flags].concat()).unwrap().run(&call(root, Caller::Person))
    }

    #[test]
    fn a_person_names_any_file_and_a_model_one_of_the_project() {
        let (_holder, root) = folder("project");
        for path in ["out/a.md", "../a.md"] {
            assert_eq!(output(Path::new(path), &call(&root, Caller::Person)).unwrap(), Path::new(path));
        }
        let model = call(&root, Caller::Model);
        assert_eq!(output(Path::new("out/a.md"), &model).unwrap(), root.join("out/a.md"));
        assert!(output(Path::new("../a.md"), &model).unwrap_err().is(PATH_NOT_ALLOWED));
        for caller in [Caller::Person, Caller::Model] {
            for path in ["", "/", "a/.."] {
                let error = output(Path::new(path), &call(&root, caller)).unwrap_err();
                assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--output", "{path:?}: {error}");
            }
        }
    }

    #[test]
    fn documents_that_are_left_out_are_counted_and_listed_as_they_fit() {
        let (_holder, root) = folder("project");
        write(&root, "kb/cache/a.md", "text");
        let missing = (0..2_000).map(|number| json!({"path": format!("missing {number}.md")}));
        let listed: Vec<_> = missing.chain([json!({"path": "a.md"})]).collect();
        write(&root, "kb/cache/catalog.json", json!({"documents": listed}).to_string());
        let answer = run(&root, &root.join("new/out.jsonl"), &[]).unwrap();
        assert_eq!((answer.documents, answer.total, answer.truncated), (1, 2_000, true));
        assert!((10..2_000).contains(&answer.left_out.len()), "{}", answer.left_out.len());
        assert_eq!(answer.bytes, root.join("new/out.jsonl").metadata().unwrap().len());
    }

    #[test]
    fn a_refused_export_makes_no_folder() {
        let (_holder, root) = folder("project");
        write(&root, "kb/cache/catalog.json", json!({"documents": [{"path": "none.md"}]}).to_string());
        assert!(run(&root, &root.join("new/out"), &[]).err().unwrap().is(NO_DOCUMENTS));
        assert!(!root.join("new").exists());
    }

    #[cfg(unix)]
    #[test]
    fn only_a_regular_file_is_replaced() {
        let (_holder, root) = folder("project");
        write(&root, "kb/cache/a.md", "text");
        write(&root, "kb/cache/catalog.json", json!({"documents": [{"path": "a.md"}]}).to_string());
        let pipe = root.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(run(&root, &pipe, &["--overwrite"]).err().unwrap().is(ragmaker_files::NOT_A_REGULAR_FILE));
    }
}
