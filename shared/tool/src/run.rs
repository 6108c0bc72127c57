//! From the command line to one JSON value and an exit status.

use std::{
    borrow::Cow,
    io::{self, Write},
    panic,
    process::ExitCode,
};

use serde::Serialize;
use serde_json::Value;

use crate::{
    ARGUMENT_ERROR, Error, INTERNAL_ERROR, OUTPUT_ERROR, Tool,
    arguments::{self, Parsed},
    describe,
    json::{self, Charset},
};

/// How a tool ends, as its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: one JSON value on standard output, nothing on standard error.
    Success = 0,
    /// 1: the work failed; one JSON object on standard error.
    Failure = 1,
    /// 2: the arguments can not be used; one JSON object on standard error.
    Usage = 2,
}

impl From<&Error> for Exit {
    fn from(error: &Error) -> Self {
        if error.is(ARGUMENT_ERROR) { Self::Usage } else { Self::Failure }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Runs `T` as this process: its `main` function is this call.
///
/// `entry` is what `--describe` prints: the tool's discovery.json, which `cargo xtask discovery`
/// generates with [`describe::entry`]. It comes as text because what makes schemas would be a sixth of
/// a small executable.
pub fn main<T: Tool>(entry: &'static str) -> ExitCode {
    main_with(entry, T::run)
}

/// Runs `T` as this process as [`main`] does, its work done by `work` in the place of [`Tool::run`].
pub fn main_with<T: Tool>(entry: &'static str, work: fn(T) -> Result<T::Answer, Error>) -> ExitCode {
    // A panic is reported as JSON below; the default hook would print prose before it.
    panic::set_hook(Box::new(|_| ()));
    let charset = Charset::from_env();
    let exit = match caught::<T, _>(|| run(entry, work, charset)) {
        Ok(()) => Exit::Success,
        Err(error) => {
            // In one piece: tools that run at once may share the stream. Nobody is left to tell when it
            // is gone as well.
            let mut text = vec![];
            if json::write(&error, charset, &mut text).is_ok() {
                let _ = io::stderr().write_all(&text);
            }
            Exit::from(&error)
        }
    };
    exit.into()
}

/// What a call that is no process of its own is answered with.
#[derive(Debug)]
pub struct Answered {
    /// What the process would print, as a value.
    pub json: Value,
    /// What it would print in the place of JSON; see [`Tool::plain`].
    pub plain: Option<String>,
}

/// Does the work of `T` in this process, with arguments that came as JSON; a panic becomes an error.
pub fn call<T: Tool>(arguments: impl IntoIterator<Item = (String, Value)>) -> Result<Answered, Error> {
    caught::<T, _>(|| {
        let answer = arguments::from_json::<T>(arguments)?.run().map_err(listed::<T>)?;
        let plain = T::plain(&answer).map(str::to_owned);
        // A value that reads a file as it is serialized can fail.
        let json = serde_json::to_value(Success { status: "success", answer: &answer });
        Ok(Answered { json: json.map_err(|error| OUTPUT_ERROR.error(error.to_string()))?, plain })
    })
}

fn caught<T: Tool, A>(work: impl FnOnce() -> Result<A, Error>) -> Result<A, Error> {
    panic::catch_unwind(panic::AssertUnwindSafe(work)).unwrap_or_else(|cause| {
        let message = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref().copied());
        Err(INTERNAL_ERROR.error(message.unwrap_or("the tool panicked")).detail("command", T::NAME))
    })
}

#[derive(Serialize)]
struct Success<'a, A> {
    status: &'static str,
    #[serde(flatten)]
    answer: &'a A,
}

fn run<T: Tool>(entry: &str, work: fn(T) -> Result<T::Answer, Error>, charset: Charset) -> Result<(), Error> {
    let text = match arguments::from_process::<T>()? {
        Parsed::Work(tool) => {
            let answer = work(tool).map_err(listed::<T>)?;
            return match T::plain(&answer) {
                Some(text) => written(io::stdout().write_all(text.as_bytes())),
                None => print(&answer, charset),
            };
        }
        Parsed::Help(text) => Cow::Owned(text),
        Parsed::Version => Cow::Owned(format!("{} {}\n", T::NAME, T::VERSION)),
        Parsed::Describe => Cow::Borrowed(entry),
    };
    written(io::stdout().write_all(text.as_bytes()))
}

/// Checks, in tests and debug builds, that discovery.json lists what the tool fails with.
fn listed<T: Tool>(error: Error) -> Error {
    debug_assert!(
        describe::codes::<T>().any(|code| error.is(code)),
        "{} is not in the ERRORS of {}",
        error.code(),
        T::NAME
    );
    error
}

fn print(answer: &impl Serialize, charset: Charset) -> Result<(), Error> {
    let mut out = io::BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    let result = json::write(&Success { status: "success", answer }, charset, &mut out);
    written(result.map_err(io::Error::from).and_then(|()| out.flush()))
}

/// A reader that has seen enough (`| head -1`) is no failure.
fn written(result: io::Result<()>) -> Result<(), Error> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(OUTPUT_ERROR.error(format!("cannot write the answer to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Pick;
    use serde_json::json;

    #[test]
    fn a_call_answers_what_the_process_prints() {
        let arguments = |value: Value| value.as_object().cloned().unwrap();
        let answered =
            call::<Pick>(arguments(json!({"basket": "a", "count": "7", "wait_for_previous": true}))).unwrap();
        assert_eq!(answered.json, json!({"status": "success", "picked": ["a"], "next": null}));
        assert_eq!(answered.plain, None);
        assert!(call::<Pick>(arguments(json!({"count": 9}))).unwrap_err().is(ARGUMENT_ERROR));
        let panicked = caught::<Pick, ()>(|| panic!("out of order")).unwrap_err();
        assert!(panicked.is(INTERNAL_ERROR) && panicked.message() == "out of order");
    }

    #[test]
    fn the_code_decides_the_exit_status() {
        assert_eq!(Exit::from(&ARGUMENT_ERROR.error("")) as u8, 2);
        assert_eq!(Exit::from(&INTERNAL_ERROR.error("")) as u8, 1);
        assert_eq!(Exit::Success as u8, 0);
    }

    #[test]
    fn a_closed_pipe_is_no_failure_and_a_full_disk_is() {
        assert!(written(Err(io::ErrorKind::BrokenPipe.into())).is_ok());
        assert!(written(Err(io::ErrorKind::StorageFull.into())).unwrap_err().is(OUTPUT_ERROR));
        let hidden = serde_json::Error::io(io::ErrorKind::BrokenPipe.into());
        assert!(written(Err(hidden.into())).is_ok());
    }
}
