//! The output of a command, of any size, in bounded memory: the beginning and the end of each stream. A file has the
//! complete output if it is long.

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{self, Read, Write},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, Instant, SystemTime},
};

use ragmaker_project::{COMMANDS, Project};

/// The number of bytes that are kept of the start and of the end of a stream.
const KEPT: usize = 64 * 1024;

/// The most that is written to the file, in bytes (256 MiB); a command may print for an hour.
const LONGEST: u64 = 256 << 20;

/// The number of output files of earlier commands that are kept.
const FILES: usize = 16;

/// The longest possible file name, for measuring an answer.
pub(crate) const NAME_OF_WIDEST: &str = "commands/00000000000000000000-0000000000.log";

/// The kept part of one stream.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    pub(crate) head: Vec<u8>,
    /// The end of the stream, after a possible gap.
    pub(crate) tail: VecDeque<u8>,
    pub(crate) left_out: u64,
}

/// The kept parts of both streams.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    pub(crate) stdout: Stream,
    pub(crate) stderr: Stream,
    pub(crate) log: Log,
}

/// Both streams in the order of their arrival, in one file once they are long.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pending: Vec<u8>,
    file: Option<(PathBuf, File)>,
    written: u64,
    folder: Option<PathBuf>,
}

/// Reads the streams of a running command.
pub(crate) struct Capture {
    captured: Arc<Mutex<Captured>>,
    sender: mpsc::Sender<()>,
    ends: mpsc::Receiver<()>,
    readers: std::cell::Cell<usize>,
}

impl Stream {
    fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(KEPT - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..over);
        self.left_out += over as u64;
    }
}

impl Log {
    fn push(&mut self, bytes: &[u8]) {
        if self.file.is_none() && self.pending.len() + bytes.len() <= 2 * KEPT {
            self.pending.extend_from_slice(bytes);
            return;
        }
        if self.open().is_err() {
            return;
        }
        let Some((_, file)) = &mut self.file else { return };
        let left = usize::try_from(LONGEST - self.written).unwrap_or(usize::MAX);
        let bytes = &bytes[..bytes.len().min(left)];
        if file.write_all(bytes).is_ok() {
            self.written += bytes.len() as u64;
        }
    }

    fn open(&mut self) -> io::Result<()> {
        if self.file.is_some() {
            return Ok(());
        }
        let folder = self.folder.clone().ok_or(io::ErrorKind::NotFound)?;
        ragmaker_project::create_private(&folder)?;
        remove_old(&folder);
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = folder.join(format!("{time:020}-{}.log", std::process::id()));
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        let pending = std::mem::take(&mut self.pending);
        file.write_all(&pending)?;
        self.written = pending.len() as u64;
        self.file = Some((path, file));
        Ok(())
    }

    /// The file with the complete output, which is created if necessary.
    pub(crate) fn file(&mut self) -> Option<PathBuf> {
        self.open().ok()?;
        self.file.as_ref().map(|(path, _)| path.clone())
    }
}

/// Removes the files of commands of long ago.
fn remove_old(folder: &std::path::Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "log")).collect();
    // Their names begin with the time.
    files.sort();
    for file in files.iter().take(files.len().saturating_sub(FILES - 1)) {
        let _ = fs::remove_file(file);
    }
}

impl Capture {
    pub(crate) fn new(project: &Project) -> Self {
        let folder = project.is_writable().then(|| project.create_cache_folder().ok()).flatten();
        let log = Log { folder: folder.map(|folder| folder.join(COMMANDS)), ..Log::default() };
        let (sender, ends) = mpsc::channel();
        let captured = Arc::new(Mutex::new(Captured { log, ..Captured::default() }));
        Self { captured, sender, ends, readers: std::cell::Cell::new(0) }
    }

    /// Reads `stream` to its end, in a thread.
    pub(crate) fn read(&self, mut stream: impl Read + Send + 'static, is_error: bool) {
        self.readers.set(self.readers.get() + 1);
        let (captured, sender) = (Arc::clone(&self.captured), self.sender.clone());
        thread::spawn(move || {
            let mut block = vec![0; KEPT];
            loop {
                match stream.read(&mut block) {
                    Ok(0) => break,
                    Ok(length) => {
                        let mut captured = locked(&captured);
                        let Captured { stdout, stderr, log } = &mut *captured;
                        if is_error { stderr } else { stdout }.push(&block[..length]);
                        log.push(&block[..length]);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            let _ = sender.send(());
        });
    }

    /// The output after the end of the streams, or after `patience`, because another process may hold a stream open.
    pub(crate) fn finish(self, patience: Duration) -> Captured {
        let end = Instant::now() + patience;
        for _ in 0..self.readers.get() {
            if self.ends.recv_timeout(end.saturating_duration_since(Instant::now())).is_err() {
                break;
            }
        }
        std::mem::take(&mut *locked(&self.captured))
    }
}

fn locked(captured: &Mutex<Captured>) -> MutexGuard<'_, Captured> {
    captured.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_and_the_end_are_kept() {
        let mut stream = Stream::default();
        let all: Vec<u8> = (0..1_000_000_u32).map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect();
        for block in all.chunks(777) {
            stream.push(block);
        }
        assert_eq!(stream.head, all[..KEPT]);
        assert_eq!(Vec::from(stream.tail), all[all.len() - KEPT..]);
        assert_eq!(stream.left_out, 1_000_000 - 2 * KEPT as u64);
    }
}
