//! The output of a process, limited to its beginning and its end.

use std::{
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use ragmaker_project::OutputFile;

/// The maximum number of bytes that are kept from the start. An answer that a model can use is far shorter.
const HEAD: usize = 1 << 20;
/// The maximum number of bytes that are kept from the end of what is longer.
const TAIL: usize = 16 << 10;
/// The polling interval of a wait.
const POLL: Duration = Duration::from_millis(2);

/// The output of a process.
#[derive(Clone, Debug, Default)]
pub(crate) struct CapturedOutput {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// The file with all of it, if it is longer than what is kept.
    file: Option<PathBuf>,
    total: usize,
    is_over: bool,
}

impl CapturedOutput {
    /// Adds output; what is not kept at the start goes to `file`, after the start.
    fn push(&mut self, bytes: &[u8], file: &mut OutputFile) {
        let fits = bytes.len().min(HEAD - self.head.len());
        self.head.extend_from_slice(&bytes[..fits]);
        if fits < bytes.len() {
            if self.total <= HEAD {
                file.push(&self.head);
            }
            file.push(&bytes[fits..]);
            self.file = file.path();
        }
        self.total += bytes.len();
        self.tail.extend_from_slice(&bytes[fits..]);
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
    }

    /// All of it, where all was kept.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        (self.total == self.head.len()).then_some(&self.head)
    }

    /// The file with all of it, if it is longer than what is kept.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The text, at most about `most` characters of it, and whether that is all: else the start and the end.
    pub(crate) fn text(&self, most: usize) -> (String, bool) {
        let head = String::from_utf8_lossy(&self.head);
        if self.whole().is_some() && head.chars().count() <= most {
            return (head.into_owned(), true);
        }
        let tail = String::from_utf8_lossy(&self.tail);
        let start: String = head.chars().take(most / 2).collect();
        let end = if self.whole().is_some() { head } else { tail };
        let skipped = end.chars().count().saturating_sub(most / 2);
        let end: String = end.chars().skip(skipped).collect();
        (format!("{start}\n[… {} bytes in all …]\n{end}", self.total), false)
    }
}

/// A stream that a thread reads to its end: its writer is never kept waiting, however much it prints.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream(Arc<Mutex<CapturedOutput>>);

impl Stream {
    /// Reads `from`.
    pub(crate) fn of(from: Option<impl Read + Send + 'static>) -> Self {
        Self::capture(from, None)
    }

    /// Reads `from`. If it is long, a file in the cache folder `cache` has all of it.
    pub(crate) fn capture(from: Option<impl Read + Send + 'static>, cache: Option<PathBuf>) -> Self {
        let stream = Self::default();
        let Some(mut from) = from else { return stream };
        let printed = stream.clone();
        thread::spawn(move || {
            let (mut buffer, mut file) = (vec![0; 64 * 1024], OutputFile::new(cache, 0));
            loop {
                match from.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(read) => printed.lock().push(&buffer[..read], &mut file),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            printed.lock().is_over = true;
        });
        stream
    }

    /// The output until the end of the stream, or until `patience` has passed: a process that outlives the tool may
    /// keep the stream open.
    pub(crate) fn finish_before(&self, patience: Duration) -> CapturedOutput {
        let end = Instant::now() + patience;
        while !self.lock().is_over && Instant::now() < end {
            thread::sleep(POLL);
        }
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, CapturedOutput> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn printed(bytes: &[u8]) -> CapturedOutput {
        Stream::of(Some(std::io::Cursor::new(bytes.to_vec()))).finish_before(Duration::from_secs(20))
    }

    #[test]
    fn a_file_has_all_of_what_is_long() {
        let cache = tempfile::tempdir().unwrap();
        let kept = |bytes: &[u8]| {
            let from = Some(std::io::Cursor::new(bytes.to_vec()));
            Stream::capture(from, Some(cache.path().to_owned())).finish_before(Duration::from_secs(20))
        };
        let bytes: Vec<u8> = (0..3 * HEAD + 7).map(|at| b'a' + at.to_le_bytes()[1] % 26).collect();
        assert_eq!(kept(&bytes[..HEAD]).file(), None);
        for length in [HEAD + 1, bytes.len()] {
            assert_eq!(std::fs::read(kept(&bytes[..length]).file().unwrap()).unwrap(), bytes[..length]);
        }
    }

    #[test]
    fn much_is_shown_by_its_start_and_its_end() {
        let mut bytes = vec![b'a'; 3 * HEAD];
        bytes.extend_from_slice("潮 the end".as_bytes());
        let printed = printed(&bytes);
        assert!(printed.whole().is_none() && printed.head.len() == HEAD && printed.tail.len() <= 3 * TAIL);
        let (text, is_all) = printed.text(100);
        assert!(!is_all && text.starts_with("aaa") && text.ends_with("潮 the end") && text.chars().count() < 140);
    }

    proptest! {
        #[test]
        fn what_fits_is_whole(bytes in prop::collection::vec(any::<u8>(), 0..60), most in 0..80_usize) {
            let printed = printed(&bytes);
            prop_assert_eq!(printed.whole(), Some(&bytes[..]));
            let (text, is_all) = printed.text(most);
            prop_assert!(!is_all || text == String::from_utf8_lossy(&bytes));
            prop_assert!(text.chars().count() <= most + 40);
        }
    }
}
