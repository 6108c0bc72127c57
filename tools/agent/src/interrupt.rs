//! Ctrl-C: once ends the step, twice ends the program.

use std::{
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use ragmaker_model::Cancel;

/// The exit status of a program that Ctrl-C ended.
const ENDED: i32 = 130;

/// The current step, which Ctrl-C ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    cancel: Cancel,
    is_under_way: Arc<AtomicBool>,
}

impl Step {
    /// Acts on Ctrl-C from now on. While a line is edited, the editor reads it instead.
    pub(crate) fn watch(cancel: Cancel) -> Self {
        let step = Self { cancel, is_under_way: Arc::default() };
        #[cfg(unix)]
        if let Ok(mut signals) = signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT]) {
            let step = step.clone();
            let watch = move || {
                for _ in signals.forever() {
                    if step.cancel.is_cancelled() || !step.is_under_way.load(Ordering::SeqCst) {
                        // Calls under way end with the pipes that this closes; everything shown is on the disk.
                        process::exit(ENDED);
                    }
                    step.cancel.cancel();
                }
            };
            // Without the thread, Ctrl-C does nothing: the second signal is not worse than the first.
            let _ = thread::Builder::new().name("interrupt".to_owned()).spawn(watch);
        }
        step
    }

    /// Runs a step, which Ctrl-C ends.
    pub(crate) fn run<T>(&self, step: impl FnOnce() -> T) -> T {
        self.cancel.reset();
        self.is_under_way.store(true, Ordering::SeqCst);
        let outcome = step();
        self.is_under_way.store(false, Ordering::SeqCst);
        self.cancel.reset();
        outcome
    }
}
