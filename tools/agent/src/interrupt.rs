//! Signals: Ctrl-C ends a step of a conversation; elsewhere it ends the program, as SIGTERM and SIGHUP do.
//!
//! The program ends in order: what is under way is cancelled, its processes end, its events are written, and the end is
//! reported. The same signal a second time ends the program at once. Everything that was shown is on the disk then, and
//! the processes of calls end with the pipes that this closes. Windows has Ctrl-C alone.

use std::{
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    thread,
};

use ragmaker_model::Cancel;
use ragmaker_tool::Error;

use crate::{report::RunReport, signal::Signal, terminal::Editing};

/// The interval at which Ctrl-C is noticed on Windows, which has no signals to wait for.
#[cfg(windows)]
const POLL: std::time::Duration = std::time::Duration::from_millis(50);

/// The work that signals end.
#[derive(Clone, Debug)]
pub(crate) struct Signals(Arc<Watched>);

#[derive(Debug)]
struct Watched {
    cancel: Cancel,
    /// The signal that ends the program; 0 if none does.
    ended_by: AtomicI32,
    is_conversation: bool,
    /// Whether a step is under way.
    is_step: AtomicBool,
    editing: Editing,
    report: Arc<RunReport>,
}

impl Signals {
    /// Acts on signals from now on.
    pub(crate) fn watch(report: Arc<RunReport>, is_conversation: bool) -> Self {
        let watched = Arc::new(Watched {
            cancel: Cancel::default(),
            ended_by: AtomicI32::new(0),
            is_conversation,
            is_step: AtomicBool::new(false),
            editing: Editing::default(),
            report,
        });
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
            if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) {
                let watched = Arc::clone(&watched);
                let watch = move || signals.forever().for_each(|signal| watched.take(signal));
                // Without the thread, signals do nothing: the machine cannot start more threads then.
                let _ = thread::Builder::new().name("signals".to_owned()).spawn(watch);
            }
        }
        #[cfg(windows)]
        {
            use signal_hook::consts::SIGINT;
            let interrupted = Arc::new(AtomicBool::new(false));
            if signal_hook::flag::register(SIGINT, Arc::clone(&interrupted)).is_ok() {
                let watched = Arc::clone(&watched);
                let watch = move || {
                    loop {
                        thread::sleep(POLL);
                        if interrupted.swap(false, Ordering::SeqCst) {
                            watched.take(SIGINT);
                        }
                    }
                };
                let _ = thread::Builder::new().name("signals".to_owned()).spawn(watch);
            }
        }
        Self(watched)
    }

    /// The handle that ends what is under way.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.0.cancel
    }

    /// The state of the editor, for the terminal.
    pub(crate) fn editing(&self) -> Editing {
        self.0.editing.clone()
    }

    /// The signal that ends the program.
    pub(crate) fn ended_by(&self) -> Option<Signal> {
        Some(self.0.ended_by.load(Ordering::SeqCst)).filter(|signal| *signal != 0).map(Signal)
    }

    /// Fails if a signal ends the program.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.ended_by().map_or(Ok(()), |signal| Err(signal.error()))
    }

    /// Runs a step, which Ctrl-C ends.
    pub(crate) fn run<T>(&self, step: impl FnOnce() -> T) -> T {
        self.0.is_step.store(true, Ordering::SeqCst);
        self.reset();
        let outcome = step();
        self.reset();
        self.0.is_step.store(false, Ordering::SeqCst);
        outcome
    }

    /// Lets the next step run, unless the program ends.
    fn reset(&self) {
        if self.ended_by().is_none() {
            self.0.cancel.reset();
        }
    }
}

#[cfg(test)]
impl Signals {
    /// The work of a run that no signal of this process ends.
    pub(crate) fn unwatched(is_conversation: bool) -> Self {
        Self(Arc::new(Watched {
            cancel: Cancel::default(),
            ended_by: AtomicI32::new(0),
            is_conversation,
            is_step: AtomicBool::new(false),
            editing: Editing::default(),
            report: Arc::new(RunReport::new(crate::screen::Form::Json, is_conversation)),
        }))
    }
}

impl Watched {
    fn take(&self, signal: i32) {
        let first = self.ended_by.load(Ordering::SeqCst);
        let is_interrupt = Signal(signal) == Signal::INTERRUPT;
        let ends_step = is_interrupt && self.is_conversation && self.is_step.load(Ordering::SeqCst);
        if first == signal || ends_step && first == 0 && self.cancel.is_cancelled() {
            self.report.interrupted(Signal(signal));
            process::exit(Signal(signal).status().into());
        }
        if !ends_step && first == 0 {
            self.ended_by.store(signal, Ordering::SeqCst);
        }
        self.cancel.cancel();
        #[cfg(unix)]
        if !is_interrupt {
            self.editing.interrupt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGTERM: i32 = 15;

    #[test]
    fn an_interrupt_ends_the_step_of_a_conversation_and_not_the_conversation() {
        let signals = Signals::unwatched(true);
        signals.run(|| {
            assert!(!signals.cancel().is_cancelled());
            signals.0.take(Signal::INTERRUPT.0);
            assert!(signals.cancel().is_cancelled() && signals.check().is_ok());
        });
        assert!(!signals.cancel().is_cancelled(), "the next step runs");
        signals.0.take(Signal::INTERRUPT.0);
        assert_eq!(signals.ended_by(), Some(Signal::INTERRUPT), "between steps it ends the program");
    }

    #[test]
    fn what_ends_the_program_cancels_all_later_steps() {
        for (is_conversation, signal) in [(true, SIGTERM), (false, SIGTERM), (false, Signal::INTERRUPT.0)] {
            let signals = Signals::unwatched(is_conversation);
            signals.run(|| signals.0.take(signal));
            signals.run(|| assert!(signals.cancel().is_cancelled()));
            assert!(signals.check().unwrap_err().is(ragmaker_model::CANCELLED));
            assert_eq!(signals.ended_by(), Some(Signal(signal)));
        }
    }

    #[test]
    fn the_first_signal_is_the_reason_of_the_end() {
        let signals = Signals::unwatched(false);
        signals.0.take(SIGTERM);
        signals.0.take(Signal::INTERRUPT.0);
        assert_eq!(signals.ended_by(), Some(Signal(SIGTERM)));
        assert_eq!((Signal(SIGTERM).status(), Signal::INTERRUPT.status(), Signal(200).status()), (143, 130, 255));
    }
}
