//! The output of a command, of any size, in bounded memory: the beginning and the end of each stream. A file has the
//! complete output if it is long.

use std::{
    collections::VecDeque,
    io::{self, Read},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use ragmaker_project::{OutputFile, Project};

use crate::keys::Keys;

/// The number of bytes that are kept of the start and of the end of a stream.
const KEPT_BYTES: usize = 64 * 1024;

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
    /// Both streams in the order of their arrival.
    pub(crate) log: OutputFile,
    keys: Keys,
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
        let (head, rest) = bytes.split_at(bytes.len().min(KEPT_BYTES - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(KEPT_BYTES);
        self.tail.drain(..over);
        self.left_out += over as u64;
    }
}

impl Capture {
    /// The capture of a command in `project`, whose output is kept without `keys`.
    pub(crate) fn new(project: &Project, keys: Keys) -> Self {
        let folder = project.is_writable().then(|| project.create_cache_folder().ok()).flatten();
        let log = OutputFile::new(folder, 2 * KEPT_BYTES);
        let (sender, ends) = mpsc::channel();
        let captured = Arc::new(Mutex::new(Captured { log, keys, ..Captured::default() }));
        Self { captured, sender, ends, readers: std::cell::Cell::new(0) }
    }

    /// Reads `stream` to its end, in a thread.
    pub(crate) fn read(&self, mut stream: impl Read + Send + 'static, is_error: bool) {
        self.readers.set(self.readers.get() + 1);
        let (captured, sender) = (Arc::clone(&self.captured), self.sender.clone());
        thread::spawn(move || {
            let mut block = vec![0; KEPT_BYTES];
            loop {
                match stream.read(&mut block) {
                    Ok(0) => break,
                    Ok(length) => {
                        let mut captured = locked(&captured);
                        let shown = captured.keys.without_keys(&block[..length], is_error);
                        captured.push(&shown, is_error);
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
        let mut captured = std::mem::take(&mut *locked(&self.captured));
        for is_error in [false, true] {
            let rest = captured.keys.rest(is_error);
            captured.push(&rest, is_error);
        }
        captured
    }
}

impl Captured {
    fn push(&mut self, bytes: &[u8], is_error: bool) {
        if is_error { &mut self.stderr } else { &mut self.stdout }.push(bytes);
        self.log.push(bytes);
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
        assert_eq!(stream.head, all[..KEPT_BYTES]);
        assert_eq!(Vec::from(stream.tail), all[all.len() - KEPT_BYTES..]);
        assert_eq!(stream.left_out, 1_000_000 - 2 * KEPT_BYTES as u64);
    }
}
