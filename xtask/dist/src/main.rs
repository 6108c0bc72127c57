//! `cargo xtask dist`: the release archive for one target.
//!
//! The archive has one executable with all tools, and a link to it for each tool: 45 executables of their own would
//! contain most of the code 45 times. Its folders are those of a prefix such as /usr/local, so installing it is
//! copying.

mod executable;
mod stage;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use argh::FromArgs;
use xtask_dist::{archive, licences, packages, release::Release, sbom};

/// Build the release archive in target/dist: executable, links, man pages, completions, licences, SBOM, checksum.
#[derive(FromArgs)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// target of the executable (default: on Linux the static one with musl, elsewhere this machine's)
    #[argh(option)]
    target: Option<String>,
    /// build a second time in another folder, and fail unless the archive has the same bytes
    #[argh(switch)]
    twice: bool,
    /// also build a Debian package, with cargo-deb
    #[argh(switch)]
    deb: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments: Arguments = argh::from_env();
    let release = Release::of_repository(arguments.target)?;
    let folder = release.root.join("target/dist");
    let archive = build(&release, &folder)?;
    if arguments.twice {
        let again = build(&release, &release.root.join("target/dist-again"))?;
        let is_same = fs::read(&archive)? == fs::read(&again)?;
        ensure!(is_same, "{} and {} differ", archive.display(), again.display());
        println!("a second build has the same bytes");
    }
    if arguments.deb {
        executable::debian_package(&release, &folder)?;
    }
    Ok(())
}

/// Builds the executable and writes the archive, its checksum, the SBOM and the installer to `folder`.
fn build(release: &Release, folder: &Path) -> anyhow::Result<PathBuf> {
    let executable = executable::build(release, folder)?;
    let linked = packages::linked(release)?;
    let stage = folder.join("ragmaker");
    stage::fill(&stage, release, &executable)?;
    let documents = stage.join("share/doc/ragmaker");
    fs::write(documents.join("LICENSES-OF-DEPENDENCIES.txt"), licences::text(&linked)?)?;
    let sbom = format!("{:#}\n", sbom::of(release, &linked));
    fs::write(documents.join("ragmaker.cdx.json"), &sbom)?;
    let name = release.name();
    fs::write(folder.join(format!("{name}.cdx.json")), &sbom)?;
    let path = folder.join(format!("{name}.tar.gz"));
    archive::write(&stage, &name, release.time, &path)?;
    fs::write(folder.join(format!("{name}.tar.gz.sha256")), archive::checksum(&path)?)?;
    fs::write(folder.join("install.sh"), release.installer())?;
    let size = fs::metadata(&path).context("the archive was written")?.len();
    println!("{} ({} KB), executable {} KB", path.display(), size / 1000, fs::metadata(&executable)?.len() / 1000);
    Ok(path)
}
