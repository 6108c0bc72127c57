//! Piped input, which is appended to the request.
//!
//! A script, a scheduler or another program may leave standard input open and write nothing. With a request in the
//! arguments, the run then continues without input, and informs both the person and the model. Input that has begun
//! must end: a part of it could lead to a wrong answer.

use std::{
    io::{self, IsTerminal, Read},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use ragmaker_model::Cancel;
use ragmaker_text::{Decode, INPUT_TOO_LARGE, Prior, identify_bytes};
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

/// The content of standard input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A text; empty for a terminal.
    Text(String),
    /// Nothing came, but it is open.
    Silent,
}

/// Reads standard input. `cancel` ends the wait for it.
pub(crate) fn input(cancel: &Cancel) -> Result<Input, Error> {
    let input = io::stdin();
    if input.is_terminal() {
        return Ok(Input::Text(String::new()));
    }
    let Ok(input) = ragmaker_registry::stdin::take() else { return Ok(Input::Text(String::new())) };
    read(input, TIMEOUT, cancel)
}

fn read(mut input: impl Read + Send + 'static, patience: Duration, cancel: &Cancel) -> Result<Input, Error> {
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
            Err(RecvTimeoutError::Timeout) if bytes.is_empty() => return Ok(Input::Silent),
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
    Ok(Input::Text(decoded(&bytes)))
}

/// The text of `bytes`, in the encoding that they look like.
fn decoded(bytes: &[u8]) -> String {
    let Some(found) = identify_bytes(bytes, &Prior::default()) else {
        return String::from_utf8_lossy(bytes).into_owned();
    };
    let mut text = String::new();
    found.encoding.decoder().decode(bytes.get(found.mark..).unwrap_or_default(), true, &mut text);
    text
}

/// The warning for standard input on which nothing came.
pub(crate) fn silence() -> String {
    format!(
        "nothing came on standard input within {} s, so there is no input; < /dev/null avoids the wait",
        TIMEOUT.as_secs()
    )
}

/// A request with what was piped in.
pub(crate) fn appended(request: &str, input: &Input) -> String {
    let input = match input {
        Input::Text(text) => text,
        Input::Silent if request.trim().is_empty() => return String::new(),
        Input::Silent => "(nothing came)",
    };
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
        assert_eq!(read(&b"abc"[..], TIMEOUT, &cancel).unwrap(), Input::Text("abc".to_owned()));
        assert!(read(io::repeat(b'x'), TIMEOUT, &cancel).unwrap_err().is(INPUT_TOO_LARGE));
        let (reader, _writer) = io::pipe().unwrap();
        assert_eq!(read(reader.try_clone().unwrap(), Duration::from_millis(30), &cancel).unwrap(), Input::Silent);
        // What came before is not taken for all.
        let (begun, mut writer) = io::pipe().unwrap();
        io::Write::write_all(&mut writer, b"half").unwrap();
        let error = read(begun, Duration::from_millis(30), &cancel).unwrap_err();
        assert!(error.is(INPUT_TOO_LARGE) && error.message().contains("did not end"), "{error}");
        assert!(read(Broken, TIMEOUT, &cancel).unwrap_err().message().contains("broken disk"));
        cancel.cancel();
        assert_eq!(read(reader, Duration::from_hours(1), &cancel).unwrap(), Input::Text(String::new()));
    }

    #[test]
    fn input_is_decoded_by_what_it_looks_like() {
        let cancel = Cancel::default();
        let shift_jis: &[u8] = b"\x95\xCF\x90\x94 old_value \x8FI\x82\xED\x82\xE8\r\n";
        let text = |bytes: &'static [u8]| read(bytes, TIMEOUT, &cancel).unwrap();
        assert_eq!(text(shift_jis), Input::Text("変数 old_value 終わり\r\n".to_owned()));
        assert_eq!(text("潮".as_bytes()), Input::Text("潮".to_owned()));
    }

    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken disk"))
        }
    }

    #[test]
    fn piped_text_is_delimited() {
        let text = |text: &str| Input::Text(text.to_owned());
        assert_eq!(appended("Why?", &text(" \n")), "Why?");
        assert_eq!(appended("", &text("Why?")), "Why?");
        assert_eq!(appended("Why?", &text("log\n")), "Why?\n\n<stdin>\nlog\n</stdin>");
        assert_eq!(appended("Why?", &Input::Silent), "Why?\n\n<stdin>\n(nothing came)\n</stdin>");
        assert_eq!(appended("", &Input::Silent), "");
    }
}
