//! The files that Git reads for a local repository, wherever they are, and a Git directory that leads to exactly these.
//!
//! Git would find more places by itself: its configuration includes other files, a repository borrows objects from
//! others. Each of these forms has rules of its own, and a reading of them that differs from Git's would let a model
//! leave the project. So Git never sees the repository's own Git directory. It gets one that is made for the call
//! ([`Storage::view`]), without a configuration of the repository, with links to the references and to the folders
//! of objects that were found here. What is not understood here is an error.

use std::{
    collections::HashSet,
    fs::{self, FileType},
    io,
    path::{Path, PathBuf},
};

use ragmaker_tool::Error;
use tempfile::TempDir;

use crate::{
    GIT_FAILED, REPO_NOT_FOUND,
    command::{Network, git, run, temporary},
};

/// The parts of a Git directory that are read for a commit.
const READ: [&str; 4] = ["refs", "packed-refs", "reftable", "objects"];

/// The maximum number of folders of objects that a repository borrows from.
const MAX: usize = 64;

/// The maximum size in bytes of a file that names other places.
const MAX_BYTES: u64 = 1 << 20;

/// The places that Git reads for a local repository.
#[derive(Debug, PartialEq, Eq)]
pub struct Storage {
    /// Its Git directory.
    own: PathBuf,
    /// The text of its file `HEAD`.
    head: String,
    /// The Git directory with the references and the objects, which several working trees may share.
    common: PathBuf,
    /// Its folder of objects, and those that it borrows from.
    objects: Vec<PathBuf>,
    /// The Git directories, the folders of objects, and whatever a symbolic link in them names.
    places: Vec<PathBuf>,
    seen: HashSet<PathBuf>,
}

impl Storage {
    /// The places of the repository at `path`; the folders above `path` are not searched.
    ///
    /// # Errors
    ///
    /// [`REPO_NOT_FOUND`]; [`GIT_FAILED`] where a file is one that Git would wait for, or has a form that is not read.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let inner = path.join(".git");
        let git = match fs::metadata(&inner) {
            Ok(found) if found.is_dir() => inner,
            Ok(_) => {
                let text = text(&inner)?.unwrap_or_default();
                let folder = text.strip_prefix("gitdir:").map(str::trim).filter(|folder| !folder.is_empty());
                path.join(folder.ok_or_else(|| not_read(&inner, "it does not name a Git directory"))?)
            }
            Err(_) => path.to_owned(),
        };
        let common = text(&git.join("commondir"))?.map(|folder| git.join(folder.trim()));
        let is_shared = common.is_some();
        let common = common.unwrap_or_else(|| git.clone());
        let head = text(&git.join("HEAD"))?.filter(|_| common.join("objects").is_dir());
        let Some(head) = head else {
            return Err(REPO_NOT_FOUND
                .error(format!("there is no Git repository at {}", path.display()))
                .remedy("Give the folder that contains .git, with --path-in-repo for a part; for plain folders use ragmaker-file-sync.")
                .detail("path", path.to_string_lossy()));
        };
        if is_shared && common.join("reftable").exists() {
            return Err(not_read(&git, "it is a linked working tree of a repository in the reftable format")
                .remedy("Give the folder of the repository's main working tree."));
        }
        let objects = vec![common.join("objects")];
        let mut storage = Self { own: git.clone(), head, common, objects, places: vec![], seen: HashSet::new() };
        storage.add(&git)?;
        let common = storage.common.clone();
        storage.add(&common)?;
        for name in READ {
            let part = common.join(name);
            match part.symlink_metadata() {
                Ok(found) if found.is_symlink() => storage.add(&part)?,
                Ok(found) => check_kind(&part, found.file_type())?,
                Err(_) => continue,
            }
            storage.entries(&part)?;
        }
        storage.borrow()?;
        Ok(storage)
    }

    /// The places, each of which exists.
    pub fn places(&self) -> &[PathBuf] {
        &self.places
    }

    /// A Git directory with the repository's references and objects, and nothing else of it.
    ///
    /// # Errors
    ///
    /// [`GIT_FAILED`] where it cannot be made.
    pub(crate) fn view(&self) -> Result<TempDir, Error> {
        let tables = self.common.join("reftable").is_dir();
        let mut extensions = format!("\tobjectFormat = {}\n", self.object_format()?);
        if tables {
            extensions.push_str("\trefStorage = reftable\n");
        }
        let config = format!("[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n[extensions]\n{extensions}");
        let make = || -> io::Result<TempDir> {
            let folder = temporary()?;
            let at = |name: &str| folder.path().join(name);
            fs::write(at("config"), config)?;
            fs::write(at("HEAD"), &self.head)?;
            for name in READ.iter().filter(|name| **name != "objects") {
                let part = self.common.join(name);
                if part.exists() {
                    link(&part, &at(name))?;
                }
            }
            let mut borrowed = vec![];
            for (number, objects) in self.objects.iter().enumerate() {
                let own = if number == 0 { "objects".to_owned() } else { format!("borrowed-{number}") };
                fs::create_dir(at(&own))?;
                for entry in fs::read_dir(objects)? {
                    let name = entry?.file_name();
                    // Its folder `info` names further places.
                    if name != "info" {
                        link(&objects.join(&name), &at(&own).join(&name))?;
                    }
                }
                if number > 0 {
                    borrowed.push(format!("../{own}\n"));
                }
            }
            fs::create_dir(at("objects/info"))?;
            fs::write(at("objects/info/alternates"), borrowed.concat())?;
            Ok(folder)
        };
        make().map_err(|error| GIT_FAILED.error(format!("cannot make a Git directory for the repository: {error}")))
    }

    /// The parts of a view that commands in the working tree read as well: the index, what `HEAD` and the branches were
    /// before, the end of a shallow history.
    pub(crate) fn add_state(&self, view: &Path) -> io::Result<()> {
        for entry in fs::read_dir(&self.own)?.flatten() {
            let name = entry.file_name();
            let text = name.to_string_lossy();
            let is_read = text == "index" || text.starts_with("sharedindex.") || text.ends_with("_HEAD");
            if text == "index" {
                // Git may write the index to refresh it, so the user's own is copied. Its time decides which files Git
                // compares by content.
                let copy = view.join(&name);
                fs::copy(entry.path(), &copy)?;
                let modified = fs::metadata(entry.path())?.modified()?;
                fs::File::options().append(true).open(copy)?.set_modified(modified)?;
            } else if is_read && entry.path().is_file() {
                link(&entry.path(), &view.join(name))?;
            }
        }
        fs::create_dir(view.join("logs"))?;
        fs::create_dir(view.join("info"))?;
        for (folder, name) in [
            (&self.own, "logs/HEAD"),
            (&self.common, "logs/refs"),
            (&self.common, "shallow"),
            (&self.common, "info/grafts"),
        ] {
            if folder.join(name).exists() {
                link(&folder.join(name), &view.join(name))?;
            }
        }
        Ok(())
    }

    /// The hash function of its names, which only its configuration says. That file alone is read, and nothing that it
    /// includes.
    fn object_format(&self) -> Result<String, Error> {
        let config = self.common.join("config");
        match fs::metadata(&config) {
            Err(_) => return Ok("sha1".to_owned()),
            Ok(found) if !found.is_file() => return Err(not_read(&config, "it is not a regular file")),
            Ok(_) => {}
        }
        let mut file = std::ffi::OsString::from("--file=");
        file.push(std::path::absolute(&config).unwrap_or(config));
        let arguments = ["--no-includes", "--default=sha1", "--get", "extensions.objectFormat"].map(Into::into);
        let command = git(None, Network::Refused, &[&["config".into(), file][..], &arguments].concat());
        let format = run(command, &[])?;
        let format = String::from_utf8_lossy(&format).trim().to_ascii_lowercase();
        match &*format {
            "sha1" | "sha256" => Ok(format),
            _ => Err(not_read(&self.common, &format!("its object format {format:?} is unknown"))),
        }
    }

    /// Adds a place that is not below another one.
    fn add(&mut self, path: &Path) -> Result<(), Error> {
        if let Ok(found) = fs::metadata(path) {
            self.places.push(path.to_owned());
            check_kind(path, found.file_type())?;
        }
        Ok(())
    }

    /// Looks at the entries of `folder`, and of the folders below it.
    fn entries(&mut self, folder: &Path) -> Result<(), Error> {
        let mut left = vec![folder.to_owned()];
        while let Some(folder) = left.pop() {
            if !ragmaker_fs::canonicalize(&folder).is_ok_and(|real| self.seen.insert(real)) {
                continue;
            }
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (Ok(kind), path) = (entry.file_type(), entry.path()) else { continue };
                if kind.is_symlink() {
                    self.add(&path)?;
                } else {
                    check_kind(&path, kind)?;
                }
                if kind.is_dir() || (kind.is_symlink() && path.is_dir()) {
                    left.push(path);
                }
            }
        }
        Ok(())
    }

    /// Adds the folders of objects that it borrows from, which may borrow in turn.
    fn borrow(&mut self) -> Result<(), Error> {
        let mut at = 0;
        while at < self.objects.len() {
            let objects = self.objects[at].clone();
            let list = objects.join("info/alternates");
            for line in
                text(&list)?.unwrap_or_default().lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
            {
                if line.starts_with('"') {
                    return Err(not_read(&list, "it quotes a path"));
                }
                let folder = objects.join(line);
                if self.objects.contains(&folder) || !folder.is_dir() {
                    continue;
                }
                if self.objects.len() == MAX {
                    return Err(not_read(&list, &format!("the repository has more than {MAX} alternates")));
                }
                self.add(&folder)?;
                self.entries(&folder)?;
                self.objects.push(folder);
            }
            at += 1;
        }
        Ok(())
    }
}

/// Refuses a FIFO or a device, which would block Git.
fn check_kind(path: &Path, kind: FileType) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() || kind.is_char_device() || kind.is_block_device() {
            return Err(not_read(path, "it is not a regular file"));
        }
    }
    #[cfg(not(unix))]
    let _ = (path, kind);
    Ok(())
}

fn not_read(path: &Path, reason: &str) -> Error {
    GIT_FAILED
        .error(format!("{} of the repository is not read: {reason}", path.display()))
        .remedy("Run git clone --no-local to copy it, and give the copy.")
        .detail("path", path.to_string_lossy())
}

/// The text of a regular file; `None` if there is no file.
fn text(file: &Path) -> Result<Option<String>, Error> {
    let Ok(found) = fs::metadata(file) else { return Ok(None) };
    if !found.is_file() {
        return Err(not_read(file, "it is not a regular file"));
    }
    if found.len() > MAX_BYTES {
        return Err(not_read(file, "it has more than 1 MiB"));
    }
    let bytes = fs::read(file).map_err(|error| not_read(file, &error.to_string()))?;
    String::from_utf8(bytes).map(Some).map_err(|_| not_read(file, "it is not UTF-8"))
}

/// Makes the link `to`, which leads to `from`.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    let from = std::path::absolute(from)?;
    #[cfg(unix)]
    return std::os::unix::fs::symlink(from, to);
    #[cfg(windows)]
    return if from.is_dir() {
        std::os::windows::fs::symlink_dir(from, to)
    } else {
        std::os::windows::fs::symlink_file(from, to)
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A folder with a repository `work` of one commit, made with `arguments` of `git init`.
    fn repository(arguments: &[&str]) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let git = |arguments: &[&str]| {
            let identity = ["-c", "user.name=x", "-c", "user.email=x@x.example", "-C", "work"];
            let status = Command::new("git").args(identity).args(arguments).current_dir(&top).status().unwrap();
            assert!(status.success(), "{arguments:?}");
        };
        fs::create_dir(top.join("work")).unwrap();
        git(&[&["init", "--quiet"], arguments].concat());
        fs::write(top.join("work/a.md"), "# A\n").unwrap();
        git(&["add", "a.md"]);
        git(&["commit", "--quiet", "--message", "a"]);
        (folder, top)
    }

    fn head(storage: &Storage) -> Result<Vec<u8>, Error> {
        let view = storage.view()?;
        run(git(Some(view.path()), Network::Refused, &["cat-file", "blob", "HEAD:a.md"]), &[])
    }

    #[test]
    fn a_view_has_the_content_of_the_repository() {
        for arguments in [&[][..], &["--object-format=sha256"], &["--ref-format=reftable"]] {
            let (_folder, top) = repository(arguments);
            let storage = Storage::of(&top.join("work")).unwrap();
            assert_eq!(head(&storage).unwrap(), b"# A\n", "{arguments:?}");
        }
        assert!(Storage::of(tempfile::tempdir().unwrap().path()).unwrap_err().is(REPO_NOT_FOUND));
    }

    #[test]
    fn the_configuration_of_the_repository_is_not_read() {
        let (_folder, top) = repository(&[]);
        let config = top.join("work/.git/config");
        let before = fs::read_to_string(&config).unwrap();
        fs::write(top.join("outside"), "secret = value\n").unwrap();
        for more in ["[include] path = ../../outside\n", "[includeIf \"gitdir:**\"]\n\tpath = \\\n ../../outside\n"] {
            fs::write(&config, format!("{before}{more}")).unwrap();
            assert_eq!(head(&Storage::of(&top.join("work")).unwrap()).unwrap(), b"# A\n");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_and_special_files_are_found() {
        use std::os::unix::fs::symlink;
        let (_folder, top) = repository(&[]);
        let (git, outside) = (top.join("work/.git"), top.join("outside"));
        for folder in [git.join("hooks"), outside.join("pack")] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::remove_dir(git.join("objects/pack")).unwrap();
        symlink(outside.join("pack"), git.join("objects/pack")).unwrap();
        symlink(&outside, git.join("hooks/unused")).unwrap();
        let storage = Storage::of(&top.join("work")).unwrap();
        assert!(storage.places().contains(&git.join("objects/pack")), "{storage:?}");
        assert!(!storage.places().iter().any(|place| place.ends_with("unused")));
        Command::new("mkfifo").arg(outside.join("pack/x.idx")).status().unwrap();
        assert!(Storage::of(&top.join("work")).unwrap_err().message().contains("x.idx"));
    }

    #[test]
    fn borrowed_objects_are_all_found_or_refused() {
        let (_folder, top) = repository(&[]);
        let own = top.join("work/.git/objects");
        // All its objects are those of a chain of others.
        let store = |number: usize| top.join(format!("store-{number}"));
        for number in 0..=MAX {
            fs::create_dir_all(store(number).join("info")).unwrap();
            fs::write(store(number).join("info/alternates"), format!("# a note\n\n{}\n", store(number + 1).display()))
                .unwrap();
        }
        for entry in fs::read_dir(&own).unwrap().map(|entry| entry.unwrap()) {
            if entry.file_name() != "info" {
                fs::rename(entry.path(), store(3).join(entry.file_name())).unwrap();
            }
        }
        let borrow = |text: String| {
            fs::create_dir_all(own.join("info")).unwrap();
            fs::write(own.join("info/alternates"), text).unwrap();
            Storage::of(&top.join("work"))
        };
        let too_many = borrow("../../../store-0\n".to_owned()).unwrap_err();
        assert!(too_many.is(GIT_FAILED) && too_many.message().contains("64"), "{too_many}");
        fs::remove_file(store(20).join("info/alternates")).unwrap();
        let storage = borrow("../../../store-0\n".to_owned()).unwrap();
        assert_eq!(storage.objects.len(), 22);
        assert!(storage.places().iter().any(|place| place.ends_with("store-20")), "{storage:?}");
        assert_eq!(head(&storage).unwrap(), b"# A\n");
        for refused in ["\"../../../store-0\"\n".to_owned(), "#".repeat(MAX_BYTES as usize + 1)] {
            assert!(borrow(refused).unwrap_err().is(GIT_FAILED));
        }
    }
}
