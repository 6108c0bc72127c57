//! Waiting for the end of a child process, with a time limit.

use std::{
    io,
    process::Child,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};

/// Whether `child` ends within `timeout`.
pub(crate) fn ends_within(child: &mut Child, timeout: Option<Duration>) -> io::Result<bool> {
    if child.try_wait()?.is_some() {
        return Ok(true);
    }
    let end = timeout.map(|timeout| Instant::now() + timeout);
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else {
        // Kernels before 5.3 lack pidfd_open.
        while child.try_wait()?.is_none() {
            if end.is_some_and(|end| Instant::now() >= end) {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        return Ok(true);
    };
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let time = left.map(|left| Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        });
        match poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], time.as_ref()) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(true),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_child_is_waited_for_until_its_end_or_the_time_limit() {
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        let begun = Instant::now();
        assert!(!ends_within(&mut child, Some(Duration::ZERO)).unwrap());
        assert!(!ends_within(&mut child, Some(Duration::from_millis(20))).unwrap());
        assert!(begun.elapsed() >= Duration::from_millis(20));
        child.kill().unwrap();
        assert!(ends_within(&mut child, None).unwrap());
        // It has been waited for by now.
        child.wait().unwrap();
        assert!(ends_within(&mut child, Some(Duration::ZERO)).unwrap());
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}
