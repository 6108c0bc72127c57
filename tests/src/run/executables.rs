//! The paths of the executables: beside the running test, and built on the first request.

use std::{env, path::PathBuf, process::Command, sync::OnceLock};

use crate::discovery::workspace;

/// The path of an executable, such as `ragmaker-read-file`.
///
/// They are taken from the folder that `RAGMAKER_BIN_DIR` names, as they are; otherwise they are
/// built, once for each process, in the profile and target folder of the test itself.
///
/// # Panics
///
/// Where they cannot be built, or there is none of that name.
pub fn executable(name: &str) -> PathBuf {
    found(name).unwrap_or_else(|| panic!("{name} was not built"))
}

/// The path of an executable, where there is one.
pub(super) fn found(name: &str) -> Option<PathBuf> {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| env::var_os("RAGMAKER_BIN_DIR").map_or_else(built, PathBuf::from));
    Some(folder.join(name).with_extension(env::consts::EXE_EXTENSION)).filter(|path| path.is_file())
}

/// Builds every tool, and says where.
fn built() -> PathBuf {
    let test = env::current_exe().expect("a test knows its path");
    // target/debug/deps/contract-0123456789abcdef
    let folder = test.ancestors().nth(2).expect("a test is in target/PROFILE/deps");
    let target = folder.parent().expect("a profile's folder is in target");
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") => "dev",
        Some(name) => name,
        None => panic!("{} is not the folder of a profile", folder.display()),
    };
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(workspace())
        .args(["build", "--quiet", "--bins", "--workspace", "--profile", profile, "--target-dir"])
        .arg(target)
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the tools do not build");
    folder.to_owned()
}
