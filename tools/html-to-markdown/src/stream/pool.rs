//! Several workers on one stream, whose results keep the order of the input.

use std::{
    io,
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use ragmaker_tool::INTERNAL_ERROR;

use super::{
    Stop,
    codes::PAGE_TIMEOUT,
    record::{Converter, Item, Outcome},
};

/// How often an item that no worker has begun is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// The workers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool {
    /// How many items are worked on at once.
    pub(super) jobs: usize,
    /// The most time for one item.
    pub(super) timeout: Duration,
}

/// An item on its way through a worker.
struct Task {
    item: Item,
    /// When a worker began.
    begun: OnceLock<Instant>,
    done: SyncSender<Outcome>,
}

/// An item whose outcome is awaited.
type Awaited = (Arc<Task>, Receiver<Outcome>);

type Queue = Arc<Mutex<Receiver<Arc<Task>>>>;

impl Pool {
    /// Converts every item and hands the outcomes to `write`, in order.
    ///
    /// A thread cannot be ended: a worker whose item takes too long is left behind, another takes its place, and
    /// what it still brings is dropped. At most three items a job are in memory.
    pub(super) fn run(
        self,
        items: impl Iterator<Item = io::Result<Item>> + Send + 'static,
        converter: Converter,
        mut write: impl FnMut(Outcome) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let converter = Arc::new(converter);
        let (to_workers, queue) = sync_channel::<Arc<Task>>(self.jobs);
        let (in_order, awaited) = sync_channel::<io::Result<Awaited>>(self.jobs * 2);
        let queue = Arc::new(Mutex::new(queue));
        thread::spawn(move || {
            for item in items {
                let item = item.map(|item| {
                    let (done, outcome) = sync_channel(1);
                    (Arc::new(Task { item, begun: OnceLock::new(), done }), outcome)
                });
                let task = item.as_ref().ok().map(|(task, _)| Arc::clone(task));
                // Nobody waits any more once the stream was given up.
                if in_order.send(item).is_err() || task.is_none_or(|task| to_workers.send(task).is_err()) {
                    return;
                }
            }
        });
        for _ in 0..self.jobs {
            work(Arc::clone(&queue), Arc::clone(&converter));
        }
        for item in awaited {
            let (task, outcome) = item.map_err(Stop::Input)?;
            let outcome = self.wait(&task, &outcome).unwrap_or_else(|| {
                work(Arc::clone(&queue), Arc::clone(&converter));
                let error = PAGE_TIMEOUT.error(format!("the page took more than {} ms", self.timeout.as_millis()));
                converter.failure(&task.item, &error)
            });
            write(outcome)?;
        }
        Ok(())
    }

    /// The outcome of a task; `None` where it takes too long.
    fn wait(self, task: &Task, outcome: &Receiver<Outcome>) -> Option<Outcome> {
        loop {
            let left = task.begun.get().map_or(LOOK, |begun| self.timeout.saturating_sub(begun.elapsed()));
            match outcome.recv_timeout(left) {
                Ok(outcome) => return Some(outcome),
                // The task holds its sender, so only time can run out.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    if task.begun.get().is_some_and(|begun| begun.elapsed() >= self.timeout) {
                        return None;
                    }
                }
            }
        }
    }
}

/// Starts a worker, which ends with the queue.
fn work(queue: Queue, converter: Arc<Converter>) {
    thread::spawn(move || {
        loop {
            // Workers do not panic while they hold the lock.
            let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(task) = task else { return };
            task.begun.get_or_init(Instant::now);
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| converter.convert(&task.item)))
                .unwrap_or_else(|_| converter.failure(&task.item, &INTERNAL_ERROR.error("the conversion panicked")));
            // Nobody waits for what came too late.
            let _ = task.done.try_send(outcome);
        }
    });
}
