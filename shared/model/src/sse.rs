//! Server-sent events, from bytes that may be split anywhere.
//!
//! The format is <https://html.spec.whatwg.org/multipage/server-sent-events.html>; only the field `data` is used.

/// An event is at most this many bytes long: the longest that a model has to send is a call with a file in it.
pub(crate) const EVENT_LIMIT: usize = 8 << 20;

/// An event is longer than [`EVENT_LIMIT`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// The state between two pieces of a stream.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    after_return: bool,
}

impl Events {
    /// Takes the next bytes, and hands the data of every event that they complete to `event`.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut event: impl FnMut(&str)) -> Result<(), TooLong> {
        for byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\r' | b'\n' => self.end_line(&mut event),
                _ => self.line.push(*byte),
            }
            if self.line.len() + self.data.as_ref().map_or(0, Vec::len) > EVENT_LIMIT {
                return Err(TooLong);
            }
        }
        Ok(())
    }

    /// Handles the text before the end of the stream, because some servers omit the last empty line.
    pub(crate) fn end(&mut self, mut event: impl FnMut(&str)) {
        self.end_line(&mut event);
        self.end_line(&mut event);
    }

    fn end_line(&mut self, event: &mut impl FnMut(&str)) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            if let Some(data) = self.data.take() {
                event(&String::from_utf8_lossy(&data));
            }
            return;
        }
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line);
        let Some(value) = line.strip_prefix(b"data") else { return };
        let value = match value.split_first() {
            None => value,
            Some((b':', value)) => value.strip_prefix(b" ").unwrap_or(value),
            // Another field whose name begins in the same way.
            Some(_) => return,
        };
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let (mut events, mut found) = (Events::default(), vec![]);
        for piece in pieces {
            events.feed(piece, |data| found.push(data.to_owned())).unwrap();
        }
        events.end(|data| found.push(data.to_owned()));
        found
    }

    #[test]
    fn fields_comments_and_line_ends() {
        let text = "\u{feff}data: a\r\ndata:b\r\rdatax: no\n: comment\nevent: x\n\ndata\n\ndata: last";
        assert_eq!(events([text.as_bytes()]), ["a\nb", "", "last"]);
    }

    #[test]
    fn an_event_without_an_end_is_refused() {
        let mut events = Events::default();
        let piece = vec![b'x'; 1 << 20];
        assert!((0..9).any(|_| events.feed(&piece, |_| ()) == Err(TooLong)));
    }

    proptest! {
        #[test]
        fn where_a_stream_is_split_changes_nothing(
            lines in prop::collection::vec(("(data: |data:|: |id: )?[a潮 \u{1f30a}]{0,4}", "\r\n|\n|\r|\n\n"), 0..12),
            size in 1..7_usize,
        ) {
            let text: String = lines.iter().flat_map(|(line, end)| [line.as_str(), end.as_str()]).collect();
            let pieces = text.as_bytes().chunks(size);
            prop_assert_eq!(events(pieces), events([text.as_bytes()]));
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            events([&*bytes]);
        }
    }
}
