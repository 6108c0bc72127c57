//! Piped input, which is appended to the request.

use std::{
    io::{self, IsTerminal, Read},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use ragmaker_model::Cancel;
use ragmaker_text::INPUT_TOO_LARGE;
use ragmaker_tool::{Error, INTERNAL_ERROR};

/// The maximum number of bytes that are taken.
const MAX_BYTES: usize = 1 << 20;
/// The time limit for piped input.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The interval at which the wait for it checks for a cancellation.
const POLL: Duration = Duration::from_millis(20);

/// The advice for input that does not end.
const OPEN: &str = "Save the output of the other program in a file of the project, and ask about the file. If there is no input, \
    add < /dev/null.";

/// The text on standard input; empty for a terminal. `cancel` ends the wait for it.
pub(crate) fn text(cancel: &Cancel) -> Result<String, Error> {
    let input = io::stdin();
    if input.is_terminal() {
        return Ok(String::new());
    }
    let Ok(input) = ragmaker_registry::stdin::take() else { return Ok(String::new()) };
    let bytes = read(input, TIMEOUT, cancel)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn read(mut input: impl Read + Send + 'static, patience: Duration, cancel: &Cancel) -> Result<Vec<u8>, Error> {
    let (sender, pieces) = mpsc::sync_channel(4);
    let reading = move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let piece = match input.read(&mut buffer) {
                Ok(0) => return,
                Ok(read) => Ok(buffer[..read].to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let is_last = piece.is_err();
            if sender.send(piece).is_err() || is_last {
                return;
            }
        }
    };
    let failed = |error: io::Error| INTERNAL_ERROR.error(format!("standard input cannot be read: {error}"));
    thread::Builder::new().name("input".to_owned()).spawn(reading).map_err(failed)?;
    let mut bytes = vec![];
    let until = Instant::now() + patience;
    // Nothing is left out: a part of a text could lead to a wrong answer.
    while !cancel.is_cancelled() {
        let piece = match pieces.recv_timeout(POLL) {
            Ok(piece) => piece.map_err(failed)?,
            Err(RecvTimeoutError::Timeout) if Instant::now() < until => continue,
            Err(RecvTimeoutError::Timeout) => {
                let message = format!("standard input did not end within {} s", patience.as_secs());
                return Err(INPUT_TOO_LARGE.error(message).remedy(OPEN).detail("limit_s", patience.as_secs()));
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        bytes.extend(piece);
        if bytes.len() > MAX_BYTES {
            let message = format!("more than {MAX_BYTES} bytes came on standard input");
            let advice = "Save it in a file of the project, and ask about the file: it is read page by page.";
            return Err(INPUT_TOO_LARGE.error(message).remedy(advice).detail("limit", MAX_BYTES));
        }
    }
    Ok(bytes)
}

/// A request with what was piped in.
pub(crate) fn appended(request: &str, input: &str) -> String {
    match (request.trim().is_empty(), input.trim().is_empty()) {
        (_, true) => request.to_owned(),
        (true, false) => input.to_owned(),
        (false, false) => format!("{request}\n\n<stdin>\n{}\n</stdin>", input.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_limited_in_size_and_time() {
        let cancel = Cancel::default();
        assert_eq!(read(&b"abc"[..], TIMEOUT, &cancel).unwrap(), b"abc");
        assert!(read(io::repeat(b'x'), TIMEOUT, &cancel).unwrap_err().is(INPUT_TOO_LARGE));
        let (reader, _writer) = io::pipe().unwrap();
        let error = read(reader.try_clone().unwrap(), Duration::from_millis(30), &cancel).unwrap_err();
        assert!(error.is(INPUT_TOO_LARGE) && error.message().contains("did not end"), "{error}");
        // What came before is not taken for all.
        let (begun, mut writer) = io::pipe().unwrap();
        io::Write::write_all(&mut writer, b"half").unwrap();
        assert!(read(begun, Duration::from_millis(30), &cancel).unwrap_err().is(INPUT_TOO_LARGE));
        assert!(read(Broken, TIMEOUT, &cancel).unwrap_err().message().contains("broken disk"));
        cancel.cancel();
        assert!(read(reader, Duration::from_hours(1), &cancel).unwrap().is_empty());
    }

    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken disk"))
        }
    }

    #[test]
    fn what_is_piped_in_is_set_apart() {
        assert_eq!(appended("Why?", " \n"), "Why?");
        assert_eq!(appended("", "Why?"), "Why?");
        assert_eq!(appended("Why?", "log\n"), "Why?\n\n<stdin>\nlog\n</stdin>");
    }
}
