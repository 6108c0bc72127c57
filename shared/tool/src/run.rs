//! Running a tool: from the command line to one JSON value and an exit status.

use std::{
    borrow::Cow,
    env,
    ffi::OsString,
    io::{self, Write},
    panic,
    process::ExitCode,
};

use serde::Serialize;
use serde_json::Value;

use crate::{
    ARGUMENT_ERROR, Approval, Caller, Commands, Error, HostOptions, INTERNAL_ERROR, Invocation,
    NOT_ALLOWED_IN_ARGUMENTS, OUTPUT_ERROR, Tool,
    arguments::{self, Members, Parsed, ParsedCall},
    describe,
    json::{self, Charset},
    log,
};

/// The exit status of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: one JSON value was printed to standard output, and nothing to standard error.
    Success = 0,
    /// 1: the work failed; one JSON object on standard error.
    Failure = 1,
    /// 2: the arguments cannot be used; one JSON object on standard error.
    Usage = 2,
}

impl From<&Error> for Exit {
    fn from(error: &Error) -> Self {
        if error.is(ARGUMENT_ERROR) || error.is(NOT_ALLOWED_IN_ARGUMENTS) { Self::Usage } else { Self::Failure }
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
    main_with::<T>(env::args_os().skip(1), || Cow::Borrowed(entry))
}

/// Runs `T` like [`main`], with the command line `words`: for a program that contains several tools.
pub fn main_with<T: Tool>(
    words: impl IntoIterator<Item = OsString>,
    entry: impl FnOnce() -> Cow<'static, str>,
) -> ExitCode {
    // A panic is reported as JSON below; the default hook would print prose before it.
    panic::set_hook(Box::new(|_| ()));
    let charset = Charset::from_env();
    let exit = match caught::<T, _>(|| run::<T>(words, entry, charset)) {
        Ok(()) => Exit::Success,
        Err(error) => {
            // In one write: concurrent tools may share the stream. When it is closed as well, nobody can
            // be told.
            let mut text = vec![];
            let error = error.for_person();
            if json::write(&error, charset, &mut text).is_ok() {
                let _ = io::stderr().write_all(&text);
            }
            Exit::from(&error)
        }
    };
    exit.into()
}

/// Runs `T` in this process with arguments that a model wrote as JSON; a panic becomes an error.
///
/// # Errors
///
/// The error that the executable would print on standard error.
pub fn call<T: Tool>(arguments: Members, host: &HostOptions) -> Result<Value, Error> {
    call_approved::<T>(arguments, host, &Approval::Pending)
}

/// Like [`call`], with the host's approval of this call.
///
/// # Errors
///
/// As [`call`].
pub fn call_approved<T: Tool>(arguments: Members, host: &HostOptions, approval: &Approval) -> Result<Value, Error> {
    caught::<T, _>(|| {
        let (tool, invocation) = arguments::from_json::<T>(arguments, host).inspect_err(log::Record::refuse::<T>)?;
        let answer = answer((tool, Invocation { approval: approval.clone(), ..invocation }))?;
        // A value that reads a file as it is serialized can fail.
        serde_json::to_value(Success::of(&answer)).map_err(|error| OUTPUT_ERROR.error(error.to_string()))
    })
}

/// Does the work of a call that streams; `None` for one that answers.
fn streamed<T: Tool>((tool, invocation): &ParsedCall<T>) -> Option<Result<(), Error>> {
    let record = log::Record::start(tool);
    let outcome = tool.stream(invocation)?.map_err(listed::<T>);
    if let Some(record) = record {
        record.end(outcome.as_ref());
    }
    Some(outcome)
}

/// Runs the tool and records the call in the log, if there is one.
fn answer<T: Tool>((tool, invocation): ParsedCall<T>) -> Result<T::Answer, Error> {
    let record = log::Record::start(&tool);
    let outcome = tool.run(&invocation).map_err(listed::<T>);
    let outcome = outcome.map_err(|error| match invocation.caller {
        Caller::Person => error,
        Caller::Model => arguments::as_written_in_json::<T>(error),
    });
    if let Some(record) = record {
        record.with_lines(outcome.as_ref().ok().and_then(T::lines)).end(outcome.as_ref());
    }
    outcome
}

fn caught<T: Tool, A>(work: impl FnOnce() -> Result<A, Error>) -> Result<A, Error> {
    panic::catch_unwind(panic::AssertUnwindSafe(work)).unwrap_or_else(|cause| {
        let message = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref().copied());
        Err(INTERNAL_ERROR.error(message.unwrap_or("the tool panicked")).detail("command", T::NAME))
    })
}

/// An answer as it is printed.
#[derive(Serialize)]
pub struct Success<'a, A> {
    status: &'static str,
    #[serde(flatten)]
    answer: &'a A,
}

impl<'a, A> Success<'a, A> {
    /// The printed form of `answer`: its members after `"status": "success"`.
    pub fn of(answer: &'a A) -> Self {
        Self { status: "success", answer }
    }
}

fn run<T: Tool>(
    words: impl IntoIterator<Item = OsString>,
    entry: impl FnOnce() -> Cow<'static, str>,
    charset: Charset,
) -> Result<(), Error> {
    let text = match arguments::parse::<T>(words).inspect_err(log::Record::refuse::<T>)? {
        Parsed::Work(called) => {
            if let Some(outcome) = streamed(&called) {
                return outcome;
            }
            let answer = answer(called)?;
            match T::plain(&answer) {
                Some(text) => written(io::stdout().write_all(text.as_bytes()))?,
                None => print(&answer, charset)?,
            }
            T::remain(answer);
            return Ok(());
        }
        Parsed::Help(text) => Cow::Owned(text),
        Parsed::Version => Cow::Owned(format!("{} {}\n", Commands::of_process().spelled(T::NAME), T::VERSION)),
        Parsed::Describe => entry(),
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
    let result = json::write(&Success::of(answer), charset, &mut out);
    written(result.map_err(io::Error::from).and_then(|()| out.flush()))
}

/// A closed pipe (`| head -1`) is not a failure.
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
        let call = |value: Value| {
            let members = value.as_object().cloned().unwrap().into_iter().collect();
            super::call::<Pick>(members, &HostOptions::default())
        };
        let answered = call(json!({"basket": "a", "count": "7", "wait_for_previous": true})).unwrap();
        assert_eq!(answered, json!({"status": "success", "picked": ["a"], "next": null}));
        assert!(call(json!({"count": 9})).unwrap_err().is(ARGUMENT_ERROR));
        let refused = call(json!({"basket": "a", "allow-root": ["/"]})).unwrap_err();
        assert!(refused.is(NOT_ALLOWED_IN_ARGUMENTS) && Exit::from(&refused) == Exit::Usage, "{refused}");
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
