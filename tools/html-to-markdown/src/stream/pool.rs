//! Several workers on one stream, whose results keep the order of the input.

use std::{
    io,
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use ragmaker_tool::INTERNAL_ERROR;

use super::{
    Stop,
    codes::PAGE_TIMEOUT,
    data::RecordData,
    record::{Converter, Item, OutputLine},
};

/// The interval at which a task that no worker has started to convert is checked.
const START_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The worker pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool {
    /// The number of items that are processed in parallel.
    pub(super) jobs: usize,
    /// The time limit for the conversion of an item. Reading it does not count: it takes a bounded time, and finds what is
    /// wrong with the item independent of the speed of the machine.
    pub(super) timeout: Duration,
}

/// An item in the pool.
struct Task {
    item: Item,
    /// The data of the item, once a worker has read it.
    known: OnceLock<RecordData>,
    /// When a worker started to convert it.
    begun: OnceLock<Instant>,
    done: SyncSender<OutputLine>,
    /// Whether the worker has finished, or has been replaced, whichever was first.
    is_settled: AtomicBool,
}

impl Task {
    fn new(item: Item, done: SyncSender<OutputLine>) -> Self {
        Self { item, known: OnceLock::new(), begun: OnceLock::new(), done, is_settled: AtomicBool::new(false) }
    }

    /// Whether the caller is the first to settle the task.
    fn settle(&self) -> bool {
        !self.is_settled.swap(true, Ordering::AcqRel)
    }
}

/// An item whose output is awaited.
type PendingItem = (Arc<Task>, Receiver<OutputLine>);

type Queue = Arc<Mutex<Receiver<Arc<Task>>>>;

impl Pool {
    /// Converts every item and passes the outputs to `write`, in order.
    ///
    /// A thread cannot be stopped, so a worker that exceeds the time limit is abandoned and replaced, and its
    /// result is dropped. At most three items per job are in memory.
    pub(super) fn run(
        self,
        items: impl Iterator<Item = io::Result<Item>> + Send + 'static,
        converter: Converter,
        mut write: impl FnMut(OutputLine) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let converter = Arc::new(converter);
        let (to_workers, queue) = sync_channel::<Arc<Task>>(self.jobs);
        let (in_order, awaited) = sync_channel::<io::Result<PendingItem>>(self.jobs * 2);
        let queue = Arc::new(Mutex::new(queue));
        thread::spawn(move || {
            for item in items {
                let item = item.map(|item| {
                    let (done, output) = sync_channel(1);
                    (Arc::new(Task::new(item, done)), output)
                });
                let task = item.as_ref().ok().map(|(task, _)| Arc::clone(task));
                // If the stream was aborted, the receivers are gone.
                if in_order.send(item).is_err() || task.is_none_or(|task| to_workers.send(task).is_err()) {
                    return;
                }
            }
        });
        for _ in 0..self.jobs {
            work(Arc::clone(&queue), Arc::clone(&converter));
        }
        for item in awaited {
            let (task, output) = item.map_err(Stop::Input)?;
            let output = self.wait(&task, &output).unwrap_or_else(|| {
                work(Arc::clone(&queue), Arc::clone(&converter));
                let error = PAGE_TIMEOUT.error(format!("the page took more than {} ms", self.timeout.as_millis()));
                converter.failure(task.known.wait(), &error)
            });
            write(output)?;
        }
        Ok(())
    }

    /// The output of a task; `None` after the time limit.
    fn wait(self, task: &Task, output: &Receiver<OutputLine>) -> Option<OutputLine> {
        loop {
            let left =
                task.begun.get().map_or(START_CHECK_INTERVAL, |begun| self.timeout.saturating_sub(begun.elapsed()));
            match output.recv_timeout(left) {
                Ok(output) => return Some(output),
                // The task holds its sender, so only the time can run out.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let is_late = task.begun.get().is_some_and(|begun| begun.elapsed() >= self.timeout);
                    if is_late {
                        // A worker that has just finished goes on, and sends its output at once.
                        return if task.settle() { None } else { output.recv().ok() };
                    }
                }
            }
        }
    }
}

/// Starts a worker, which ends with the queue, or after a task that took too long.
fn work(queue: Queue, converter: Arc<Converter>) {
    thread::spawn(move || {
        loop {
            // Workers do not panic while they hold the lock.
            let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(task) = task else { return };
            let result = panic::catch_unwind(AssertUnwindSafe(|| {
                let (data, page) = converter.read(&task.item);
                let known = task.known.get_or_init(|| data);
                task.begun.get_or_init(Instant::now);
                converter.convert(known, page)
            }));
            let output = result.unwrap_or_else(|_| {
                let known = task.known.get_or_init(RecordData::default);
                converter.failure(known, &INTERNAL_ERROR.error("the conversion panicked"))
            });
            if !task.settle() {
                // Another worker has taken the place of this one.
                return;
            }
            // The receiver is gone if the stream was aborted.
            let _ = task.done.try_send(output);
        }
    });
}

#[cfg(test)]
mod tests {
    use ragmaker_knowledge::bytes_hash;
    use ragmaker_tool::json::Charset;

    use super::*;
    use crate::stream::Content;

    fn converter() -> Converter {
        Converter { content: Content::Whole, max_bytes: 1 << 20, charset: Charset::Utf8 }
    }

    fn item(number: usize) -> Item {
        Item::Line(format!(r#"{{"id": {number}, "html": "<p>text"}}"#))
    }

    /// The ids of the written lines, and the end of the run.
    fn run(jobs: usize, items: Vec<io::Result<Item>>, most: usize) -> (Vec<u64>, Result<(), Stop>) {
        let mut ids = vec![];
        let pool = Pool { jobs, timeout: Duration::from_mins(1) };
        let end = pool.run(items.into_iter(), converter(), |output| {
            let record: serde_json::Value = serde_json::from_slice(&output.line).unwrap();
            ids.push(record["id"].as_u64().unwrap());
            if ids.len() < most { Ok(()) } else { Err(Stop::Failures(most)) }
        });
        (ids, end)
    }

    #[test]
    fn outputs_have_the_order_of_the_input_with_any_number_of_workers() {
        for jobs in [1, 7] {
            let (ids, end) = run(jobs, (0..100).map(item).map(Ok).collect(), usize::MAX);
            assert!(end.is_ok() && ids.into_iter().eq(0..100), "{jobs} jobs");
        }
        assert!(run(3, vec![], 1).0.is_empty());
    }

    #[test]
    fn what_is_before_a_broken_input_is_written() {
        let broken = || Err(io::Error::other("torn"));
        let (ids, end) = run(4, vec![Ok(item(0)), Ok(item(1)), broken(), Ok(item(3))], usize::MAX);
        assert_eq!(ids, [0, 1]);
        assert!(matches!(end, Err(Stop::Input(error)) if error.to_string() == "torn"));
    }

    #[test]
    fn nothing_is_written_after_the_writer_stopped() {
        let (ids, end) = run(4, (0..100).map(item).map(Ok).collect(), 3);
        assert!(ids == [0, 1, 2] && matches!(end, Err(Stop::Failures(3))));
    }

    #[test]
    fn a_page_that_takes_too_long_has_the_data_of_its_record() {
        // Converting takes longer than the interval at which the start is noticed.
        let page = "<p>text ".repeat(50_000);
        let line = format!(r#"{{"url": "u", "k": 5, "html": "{page}"}}"#);
        let (id, checksum) = [format!("u{page}"), page].map(|text| bytes_hash(text.as_bytes())).into();
        let items = (0..3).map(move |_| Ok(Item::Line(line.clone())));
        let mut late = 0;
        let end = Pool { jobs: 1, timeout: Duration::ZERO }.run(items, converter(), |output| {
            let record: serde_json::Value = serde_json::from_slice(&output.line).unwrap();
            late += usize::from(record["error"]["error_code"] == "PAGE_TIMEOUT");
            assert_eq!((&record["url"], &record["metadata"]["k"]), (&"u".into(), &5.into()), "{record}");
            assert_eq!(record["id"], id, "{record}");
            assert_eq!(record["metadata"]["sha256"], checksum, "{record}");
            Ok(())
        });
        assert!(end.is_ok() && late > 0);
    }

    #[test]
    fn a_page_that_is_too_large_is_said_to_be_so_whatever_the_time() {
        // In a debug build, reading takes longer than the limit.
        let line = format!(r#"{{"id": 1, "html": "{}"}}"#, "a".repeat(4 << 20));
        let end = Pool { jobs: 1, timeout: Duration::from_millis(100) }.run(
            [Ok(Item::Line(line))].into_iter(),
            converter(),
            |output| {
                let record: serde_json::Value = serde_json::from_slice(&output.line).unwrap();
                assert_eq!(record["error"]["error_code"], "INPUT_TOO_LARGE", "{record}");
                Ok(())
            },
        );
        assert!(end.is_ok());
    }

    #[test]
    fn a_task_is_settled_once() {
        let task = Task::new(item(0), sync_channel(1).0);
        assert_eq!([task.settle(), task.settle()], [true, false]);
    }

    #[test]
    fn a_task_out_of_time_is_given_up_and_one_that_waits_for_a_worker_is_not() {
        let pool = Pool { jobs: 1, timeout: Duration::from_millis(50) };
        let (done, output) = sync_channel(1);
        let task = Arc::new(Task::new(item(0), done.clone()));
        let late = Arc::clone(&task);
        thread::spawn(move || {
            // Three times the limit passes before a worker takes it.
            thread::sleep(Duration::from_millis(150));
            late.begun.get_or_init(Instant::now);
            let _ = done.try_send(OutputLine { line: b"done".to_vec(), failed: false });
        });
        assert_eq!(pool.wait(&task, &output).unwrap().line, b"done");
        let (done, output) = sync_channel(1);
        let task = Task::new(item(0), done);
        task.begun.get_or_init(Instant::now);
        assert!(pool.wait(&task, &output).is_none() && !task.settle());
    }
}
