//! What is released: version, target, time.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};
use cargo_metadata::MetadataCommand;

/// The script that downloads and installs an archive; dist sets version and repository.
const INSTALLER: &str = include_str!("../install.sh");

/// A release for one target.
pub struct Release {
    /// The root of the repository.
    pub root: PathBuf,
    /// The version of the workspace.
    pub version: String,
    /// The address of the repository.
    pub repository: String,
    /// The target triple of the executable.
    pub target: String,
    /// The time of every file, in seconds: `SOURCE_DATE_EPOCH`, or the time of the commit.
    pub time: u64,
}

impl Release {
    /// The release of this repository for `target`, or the default target.
    ///
    /// # Errors
    ///
    /// Cargo, rustc or Git fails.
    pub fn of_repository(target: Option<String>) -> anyhow::Result<Self> {
        let metadata = MetadataCommand::new().no_deps().exec()?;
        let root = metadata.workspace_root.into_std_path_buf();
        let package = metadata.packages.iter().find(|package| package.name == "ragmaker");
        let package = package.context("the workspace has no package ragmaker")?;
        let time = match env::var("SOURCE_DATE_EPOCH") {
            Ok(time) => time,
            Err(_) => output(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(&root))?,
        };
        Ok(Self {
            version: package.version.to_string(),
            repository: package.repository.clone().context("the package ragmaker has no repository")?,
            target: target.map_or_else(|| default_target(&root), Ok)?,
            time: time.trim().parse().context("SOURCE_DATE_EPOCH is a number of seconds")?,
            root,
        })
    }

    /// The name of the archive, and of the folder in it.
    pub fn name(&self) -> String {
        format!("ragmaker-{}-{}", self.version, self.target)
    }

    /// The script that installs this version.
    pub fn installer(&self) -> String {
        INSTALLER.replace("__VERSION__", &self.version).replace("__REPOSITORY__", &self.repository)
    }
}

/// This machine's target; on Linux the one with musl, whose executable needs no library of the system.
fn default_target(root: &Path) -> anyhow::Result<String> {
    let host = output(Command::new("rustc").args(["--print", "host-tuple"]).current_dir(root))?;
    let host = host.trim();
    Ok(if host.ends_with("-linux-gnu") { host.replace("-gnu", "-musl") } else { host.to_owned() })
}

/// What `command` prints.
///
/// # Errors
///
/// It cannot be run, or fails.
pub fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_installer_is_that_of_the_version() {
        let text = |text: &str| text.to_owned();
        let release = Release {
            root: PathBuf::new(),
            version: text("1.2.3"),
            repository: text("https://x.example/r"),
            target: text("x86_64-unknown-linux-musl"),
            time: 0,
        };
        let installer = release.installer();
        assert!(installer.contains("1.2.3") && installer.contains("https://x.example/r"));
        assert!(!installer.contains("__VERSION__") && !installer.contains("__REPOSITORY__"));
        assert_eq!(release.name(), "ragmaker-1.2.3-x86_64-unknown-linux-musl");
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_fails_is_an_error_with_what_it_says() {
        assert_eq!(output(Command::new("sh").args(["-c", "echo a"])).unwrap(), "a\n");
        let error = output(Command::new("sh").args(["-c", "echo reason >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("reason"), "{error}");
        assert!(output(&mut Command::new("/no/such/program")).is_err());
    }
}
