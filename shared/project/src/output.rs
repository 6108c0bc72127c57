//! The complete output of a process that is too long for an answer: a file in the cache folder.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use ragmaker_fs::private_options;

use crate::{COMMANDS, create_private};

/// The maximum size of a file, in bytes (256 MiB); a process may print for an hour.
const MAX_BYTES: u64 = 256 << 20;

/// The number of files of earlier processes that are kept.
const FILES: usize = 16;

/// The output of a process. The file is created only once the output is long.
#[derive(Debug, Default)]
pub struct OutputFile {
    cache: Option<PathBuf>,
    short: usize,
    pending: Vec<u8>,
    file: Option<(PathBuf, File)>,
    written: u64,
}

impl OutputFile {
    /// The longest possible name of a file, relative to the cache folder, for measuring an answer.
    pub const WIDEST: &str = "commands/00000000000000000000-0000000000.log";

    /// A file in the cache folder `cache`, which exists, for output of more than `short` bytes. Without a folder, there
    /// is no file.
    pub fn new(cache: Option<PathBuf>, short: usize) -> Self {
        Self { cache, short, ..Self::default() }
    }

    /// Adds output.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.file.is_none() && self.pending.len() + bytes.len() <= self.short {
            self.pending.extend_from_slice(bytes);
            return;
        }
        if self.open().is_err() {
            return;
        }
        let Some((_, file)) = &mut self.file else { return };
        let left = usize::try_from(MAX_BYTES - self.written).unwrap_or(usize::MAX);
        let bytes = &bytes[..bytes.len().min(left)];
        if file.write_all(bytes).is_ok() {
            self.written += bytes.len() as u64;
        }
    }

    /// The path of the file, which is created if necessary; `None` if that is not possible.
    pub fn path(&mut self) -> Option<PathBuf> {
        self.open().ok()?;
        self.file.as_ref().map(|(path, _)| path.clone())
    }

    fn open(&mut self) -> io::Result<()> {
        if self.file.is_some() {
            return Ok(());
        }
        let folder = self.cache.as_ref().ok_or(io::ErrorKind::NotFound)?.join(COMMANDS);
        create_private(&folder)?;
        remove_old(&folder);
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = folder.join(format!("{time:020}-{}.log", std::process::id()));
        let mut file = private_options().write(true).create_new(true).open(&path)?;
        let pending = std::mem::take(&mut self.pending);
        file.write_all(&pending)?;
        self.written = pending.len() as u64;
        self.file = Some((path, file));
        Ok(())
    }
}

/// Removes the files of processes of long ago.
fn remove_old(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "log")).collect();
    // Their names begin with the time.
    files.sort();
    for file in files.iter().take(files.len().saturating_sub(FILES - 1)) {
        let _ = fs::remove_file(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_is_in_a_private_file_and_old_files_are_removed() {
        let cache = tempfile::tempdir().unwrap();
        let files = || fs::read_dir(cache.path().join(COMMANDS)).into_iter().flatten().count();
        let mut output = OutputFile::new(Some(cache.path().to_owned()), 5);
        output.push(b"short");
        assert_eq!(files(), 0);
        output.push(b", and long");
        let path = output.path().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "short, and long");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        // Windows may list a removed file until it is closed.
        drop(output);
        for _ in 0..20 {
            OutputFile::new(Some(cache.path().to_owned()), 0).path().unwrap();
        }
        assert_eq!(files(), FILES);
        let mut none = OutputFile::new(None, 0);
        none.push(b"x");
        assert_eq!(none.path(), None);
    }
}
