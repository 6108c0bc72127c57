//! The output of a command as text that fits one answer.

use ragmaker_files::{Roots, lossy_text};
use ragmaker_text::{Decode, Prior, identify_bytes};
use ragmaker_tool::{
    Budget,
    budget::{longest_prefix, printed},
    json::Charset,
};

use crate::{
    Answer,
    capture::{Captured, Stream},
};

/// The maximum number of characters of `stderr` if `stdout` needs the rest.
const OF_STDERR: usize = 8_000;

/// The line between the start and the end.
const GAP: &str = "\n[… left out …]\n";

/// A stream as text.
struct Decoded {
    head: String,
    tail: String,
    encoding: Option<&'static str>,
    /// Whether something is missing between the two.
    has_gap: bool,
}

/// Puts the output into `answer`, whose texts are empty.
pub(crate) fn fill(answer: Answer, mut captured: Captured, _roots: &Roots) -> Answer {
    let budget = Budget::for_frame(&answer);
    let (left, charset) = (budget.left(), budget.charset());
    let (stdout, stderr) = (decoded(&captured.stdout), decoded(&captured.stderr));
    let need = |text: &Decoded| {
        // Of what is far too long, the number does not matter.
        let whole = text.head.len() + text.tail.len();
        if text.has_gap || whole > left {
            usize::MAX
        } else {
            printed(&text.head, charset) + printed(&text.tail, charset)
        }
    };
    let (for_stdout, for_stderr) = (need(&stdout), need(&stderr));
    let of_stderr = for_stderr.min(left.saturating_sub(for_stdout).max(OF_STDERR));
    let of_stdout = for_stdout.min(left.saturating_sub(of_stderr));
    let (out, out_is_cut) = truncated_to(&stdout, of_stdout, charset);
    let (err, err_is_cut) = truncated_to(&stderr, of_stderr, charset);
    let truncated = out_is_cut || err_is_cut;
    let log_file = if truncated { captured.log.path().map(|path| lossy_text(path).0) } else { None };
    Answer {
        stdout: out,
        stderr: err,
        stdout_encoding: stdout.encoding,
        stderr_encoding: stderr.encoding,
        truncated,
        log_file,
        ..answer
    }
}

/// The start and the end of a text that take at most `most` characters, and whether something is missing.
fn truncated_to(text: &Decoded, most: usize, charset: Charset) -> (String, bool) {
    let whole = format!("{}{}", text.head, text.tail);
    if !text.has_gap && whole.len() <= most.saturating_mul(6) && printed(&whole, charset) <= most {
        return (whole, false);
    }
    let half = most.saturating_sub(printed(GAP, charset)) / 2;
    let source = if text.has_gap { &text.tail } else { &whole };
    let head = longest_prefix(if text.has_gap { &text.head } else { &whole }, half, charset);
    (format!("{head}{GAP}{}", ending(source, half, charset)), true)
}

/// The longest end of `text` that takes at most `most` characters, from the start of a line if possible.
fn ending(text: &str, most: usize, charset: Charset) -> &str {
    let (mut least, mut start) = (text.len().saturating_sub(most.saturating_mul(4)), text.len());
    // Every start from `start` on fits; none before `least` is tried.
    while least < start {
        let middle = text.floor_char_boundary(usize::midpoint(least, start));
        if printed(&text[middle..], charset) <= most {
            if middle == start {
                break;
            }
            start = middle;
        } else {
            least = text.ceil_char_boundary(middle + 1);
        }
    }
    let end = &text[start..];
    match end.find('\n') {
        Some(line) if line < end.len() / 2 => &end[line + 1..],
        _ => end,
    }
}

/// Decodes a stream by what its bytes look like.
fn decoded(stream: &Stream) -> Decoded {
    let mut tail: Vec<u8> = stream.tail.iter().copied().collect();
    let has_gap = stream.left_out > 0;
    if has_gap {
        // A character may have been cut; the next line begins with a whole one.
        let line = tail.iter().position(|byte| *byte == b'\n').filter(|at| *at < tail.len() / 2);
        tail.drain(..line.map_or(0, |at| at + 1));
    }
    let whole = if has_gap { stream.head.clone() } else { [&stream.head[..], &tail].concat() };
    let Some(found) = identify_bytes(&whole, &Prior::default()) else {
        // Bytes that are not text, shown as far as possible.
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let encoding = whole.is_empty().then_some("UTF-8");
        let tail = if has_gap { text(&tail) } else { String::new() };
        return Decoded { head: text(&whole), tail, encoding, has_gap };
    };
    let text = |bytes: &[u8]| {
        let mut text = String::new();
        found.encoding.decoder().decode(bytes, true, &mut text);
        text
    };
    let head = text(whole.get(found.mark..).unwrap_or_default());
    let tail = if has_gap { text(&tail) } else { String::new() };
    Decoded { head, tail, encoding: Some(found.encoding.name()), has_gap }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(text: &[u8]) -> Stream {
        Stream { head: text.to_vec(), ..Stream::default() }
    }

    #[test]
    fn output_is_decoded_by_what_it_looks_like() {
        let shift_jis = b"\x95\xCF\x90\x94 old_value \x8FI\x82\xED\x82\xE8\r\n";
        let text = decoded(&stream(shift_jis));
        assert_eq!((text.encoding, text.head.as_str()), (Some("Shift_JIS"), "変数 old_value 終わり\r\n"));
        assert_eq!(decoded(&stream("é".as_bytes())).encoding, Some("UTF-8"));
        assert_eq!(decoded(&stream(b"")).encoding, Some("UTF-8"));
        assert_eq!(decoded(&stream(b"\x7fELF\0\0\x01\x02\0\0")).encoding, None);
    }

    #[test]
    fn a_long_text_keeps_both_ends() {
        let lines: String = (0..5000).map(|n| format!("line {n} 日本\n")).collect::<Vec<_>>().concat();
        let (text, is_cut) = truncated_to(&decoded(&stream(lines.as_bytes())), 2_000, Charset::Utf8);
        assert!(is_cut && text.starts_with("line 0 ") && text.ends_with("line 4999 日本\n"), "{text}");
        assert!(printed(&text, Charset::Utf8) <= 2_000 && printed(&text, Charset::Utf8) > 1_800);
        let one = "x".repeat(100_000);
        let (text, _) = truncated_to(&decoded(&stream(one.as_bytes())), 1_000, Charset::Utf8);
        assert!(text.len() <= 1_030 && text.contains(GAP));
        assert_eq!(truncated_to(&decoded(&stream(b"a\n")), 10, Charset::Utf8), ("a\n".to_owned(), false));
    }
}
