//! Files of Git repositories, read by the program `git` without a checkout.
//!
//! From a remote repository, only one commit is fetched, and only the files that the caller requests: a shallow clone
//! without blobs, in a temporary folder. A local repository is read through a temporary Git directory with links to its
//! references and objects (`storage`). There is never a working tree, so nothing of a repository can run: no hook, no
//! filter (such as LFS), no submodule, no file-system monitor. Git does not read the configuration of the repository,
//! of the user or of the system, nor its own environment variables. `command` has the settings.
//!
//! The alternatives are a library of 137 crates (gix) and a C library (git2); neither fetches single files.
//!
//! ```no_run
//! use ragmaker_git::{Address, Repository};
//!
//! # fn main() -> Result<(), ragmaker_tool::Error> {
//! let address = Address::parse("https://github.com/rust-lang/book/tree/main/src")?;
//! let repository = Repository::open(&address, None)?;
//! let files = repository.list(repository.path())?;
//! let blobs: Vec<&str> = files.iter().map(|file| file.blob.as_str()).collect();
//! repository.read(&blobs, |blob, content| println!("{blob}: {} bytes", content.map_or(0, |bytes| bytes.len())))?;
//! # Ok(())
//! # }
//! ```

mod address;
mod command;
mod repository;
mod storage;
mod work_tree;

use ragmaker_tool::Code;

pub use address::Address;
pub use repository::{File, Repository, resolve};
pub use storage::Storage;
pub use work_tree::WorkTree;

/// The program `git` is not installed.
pub const GIT_NOT_FOUND: Code = Code::new("GIT_NOT_FOUND", "Install git (package git) and call again.");
/// There is no repository.
pub const REPO_NOT_FOUND: Code =
    Code::new("REPO_NOT_FOUND", "Check the address: it is one that `git clone` takes, or the page of a folder.");
/// The repository has no such branch, tag or commit.
pub const REF_NOT_FOUND: Code =
    Code::new("REF_NOT_FOUND", "Give a branch, a tag or a whole commit hash, or leave --ref out for the default.");
/// The commit has no such file or folder.
pub const PATH_NOT_FOUND: Code =
    Code::new("PATH_NOT_FOUND", "Check the path; it is relative to the root of the repository, with forward slashes.");
/// The repository asks who one is.
pub const AUTH_REQUIRED: Code = Code::new(
    "AUTH_REQUIRED",
    "Ask the user to clone it, and give the local path; or give an ssh address that their ssh agent has a key for.",
);
/// Git failed otherwise.
pub const GIT_FAILED: Code =
    Code::new("GIT_FAILED", "details.git contains git's message; check the connection and try again.");

/// The codes of a tool that reads repositories.
pub const ERRORS: &[Code] = &[GIT_NOT_FOUND, REPO_NOT_FOUND, REF_NOT_FOUND, PATH_NOT_FOUND, AUTH_REQUIRED, GIT_FAILED];
