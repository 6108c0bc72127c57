//! The progress of a run on a terminal.

use std::{
    fmt,
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

use crate::PageVerdict;

/// How often the line is written at most.
const PAUSE: Duration = Duration::from_millis(200);

/// The pages that this process has ended. Those of an interrupted run say nothing about its speed.
#[derive(Debug)]
pub(crate) struct Progress {
    begun: Instant,
    ended: usize,
    failed: usize,
    /// How many pages there are to be, where that is known.
    expected: Option<usize>,
    /// Whether nothing is written.
    pub(crate) hidden: bool,
    shown: Option<Instant>,
}

impl Progress {
    /// Counts from now on; `expected` pages are to come.
    pub(crate) fn new(expected: Option<usize>, hidden: bool) -> Self {
        Self { begun: Instant::now(), ended: 0, failed: 0, expected, hidden, shown: None }
    }

    pub(crate) fn ended(&mut self, verdict: PageVerdict) {
        self.ended += 1;
        self.failed += usize::from(verdict == PageVerdict::Failed);
    }

    /// Writes the line, where standard error is a terminal.
    pub(crate) fn show(&mut self) {
        let is_due = !self.hidden && self.shown.is_none_or(|shown| shown.elapsed() > PAUSE);
        if is_due && io::stderr().is_terminal() {
            self.shown = Some(Instant::now());
            let _ = write!(io::stderr(), "\r{}\x1b[K", self.line(self.begun.elapsed()));
        }
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        if self.shown.is_some() {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }

    fn line(&self, elapsed: Duration) -> impl fmt::Display {
        let Self { ended, failed, expected, .. } = *self;
        fmt::from_fn(move |to| {
            match expected {
                Some(expected) => write!(to, "{ended} of {expected} pages")?,
                None => write!(to, "{ended} pages")?,
            }
            write!(to, ", {failed} failed")?;
            let rate = ended as f64 / elapsed.as_secs_f64();
            // The first second says little about the rest.
            if elapsed.as_secs() > 0 {
                write!(to, ", {rate:.1} pages/s")?;
                if let Some(left) = expected.and_then(|expected| expected.checked_sub(ended)) {
                    let left = elapsed.mul_f64(left as f64 / ended as f64).as_secs();
                    write!(to, ", {}:{:02} left", left / 60, left % 60)?;
                }
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_rate_and_time_left_where_they_are_known() {
        let mut progress = Progress::new(None, false);
        progress.ended(PageVerdict::Added);
        progress.ended(PageVerdict::Failed);
        let line = |progress: &Progress, seconds| progress.line(Duration::from_secs(seconds)).to_string();
        assert_eq!(line(&progress, 0), "2 pages, 1 failed");
        assert_eq!(line(&progress, 4), "2 pages, 1 failed, 0.5 pages/s");
        progress.expected = Some(50);
        assert_eq!(line(&progress, 4), "2 of 50 pages, 1 failed, 0.5 pages/s, 1:36 left");
        progress.expected = Some(1);
        assert_eq!(line(&progress, 4), "2 of 1 pages, 1 failed, 0.5 pages/s");
    }
}
