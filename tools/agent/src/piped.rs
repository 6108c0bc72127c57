//! Piped input, which is appended to the request.

use std::{
    io::{self, IsTerminal, Read},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use ragmaker_model::Cancel;
use ragmaker_text::INPUT_TOO_LARGE;
use ragmaker_tool::Error;

/// The most bytes that are taken.
const MOST: usize = 1 << 20;
/// The time limit for piped input.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The interval at which the wait for it checks for a cancellation.
const POLL: Duration = Duration::from_millis(20);

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
        while let Ok(read @ 1..) = input.read(&mut buffer) {
            if sender.send(buffer[..read].to_vec()).is_err() {
                return;
            }
        }
    };
    let mut bytes = vec![];
    if thread::Builder::new().name("input".to_owned()).spawn(reading).is_err() {
        return Ok(bytes);
    }
    let until = Instant::now() + patience;
    // A pipe that stays open counts as ended then: its other end may wait for the answer.
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|_| !cancel.is_cancelled()) {
        let piece = match pieces.recv_timeout(left.min(POLL)) {
            Ok(piece) => piece,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        bytes.extend(piece);
        if bytes.len() > MOST {
            let message = format!("more than {MOST} bytes came on standard input");
            let advice = "Save it in a file of the project, and ask about the file: it is read page by page.";
            return Err(INPUT_TOO_LARGE.error(message).remedy(advice).detail("limit", MOST));
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
        assert!(read(reader.try_clone().unwrap(), Duration::from_millis(30), &cancel).unwrap().is_empty());
        cancel.cancel();
        assert!(read(reader, Duration::from_hours(1), &cancel).unwrap().is_empty());
    }

    #[test]
    fn what_is_piped_in_is_set_apart() {
        assert_eq!(appended("Why?", " \n"), "Why?");
        assert_eq!(appended("", "Why?"), "Why?");
        assert_eq!(appended("Why?", "log\n"), "Why?\n\n<stdin>\nlog\n</stdin>");
    }
}
