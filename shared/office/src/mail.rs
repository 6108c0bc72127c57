//! Mail messages (RFC 5322): subject, sender, recipients, date, text, and the names of attachments.

use std::fmt::Write;

use mail_parser::{Address, Message, MessageParser, MimeHeaders};

use crate::{Damage, grid::escaped, markdown::from_html};

/// The largest message in bytes (64 MiB).
const MAX: usize = 64 << 20;

/// Converts the message in `bytes` to Markdown; `None` if it has neither headers nor text.
///
/// If the text exists in several formats, plain text is preferred. Attachments are named, not converted.
///
/// # Errors
///
/// [`Damage::TooLarge`], and [`Damage::Markdown`] where its HTML cannot be converted.
pub fn mail(bytes: &[u8]) -> Result<Option<String>, Damage> {
    if bytes.len() > MAX {
        return Err(Damage::TooLarge { most: MAX as u64 });
    }
    let Some(message) = MessageParser::default().parse(bytes) else { return Ok(None) };
    let text = body(&message)?;
    let is_message = message.from().is_some() || message.subject().is_some() || message.date().is_some();
    if !is_message || (text.trim().is_empty() && message.subject().is_none()) {
        return Ok(None);
    }
    let mut out = format!("# {}\n\n", one_line(message.subject().unwrap_or("(no subject)")));
    let date = message.date().map(mail_parser::DateTime::to_rfc3339);
    for (name, value) in [
        ("From", message.from().map(people)),
        ("To", message.to().map(people)),
        ("Cc", message.cc().map(people)),
        ("Date", date),
    ] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            _ = writeln!(out, "- {name}: {value}");
        }
    }
    let attached: Vec<String> = message.attachments().filter_map(|part| part.attachment_name().map(one_line)).collect();
    if !attached.is_empty() {
        _ = writeln!(out, "- Attached: {}", attached.join(", "));
    }
    _ = write!(out, "\n{}\n", text.trim());
    Ok(Some(out))
}

/// The text parts in order.
fn body(message: &Message<'_>) -> Result<String, Damage> {
    let mut texts = vec![];
    for at in 0..message.text_body_count() {
        // This list also contains HTML parts without a plain alternative. `body_text` would only strip their
        // tags.
        let is_html = message.text_part(at as u32).is_some_and(mail_parser::MessagePart::is_text_html);
        if is_html {
            let html = message.text_part(at as u32).and_then(mail_parser::MessagePart::text_contents);
            texts.push(from_html(html.unwrap_or_default())?);
        } else if let Some(text) = message.body_text(at) {
            texts.push(text.replace("\r\n", "\n"));
        }
    }
    Ok(texts.join("\n\n"))
}

fn people(address: &Address<'_>) -> String {
    let person = |person: &mail_parser::Addr<'_>| match (person.name(), person.address()) {
        (Some(name), Some(address)) => Some(format!("{name} ({address})")),
        (Some(only), None) | (None, Some(only)) => Some(only.to_owned()),
        (None, None) => None,
    };
    one_line(&address.iter().filter_map(person).collect::<Vec<_>>().join(", "))
}

fn one_line(text: &str) -> String {
    escaped(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_with_text_html_and_a_file() {
        let message = b"From: =?utf-8?q?Ad=C3=A4?= <ada@x.example>\r\nTo: b@x.example\r\nSubject: Spring\r\n tide\r\n\
            Date: Tue, 24 Nov 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n\
            --m\r\nContent-Type: multipart/alternative; boundary=a\r\n\r\n--a\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nHigh water at 9.\r\n\
            --a\r\nContent-Type: text/html\r\n\r\n<p>High <b>water</b> at 9.\r\n--a--\r\n\
            --m\r\nContent-Type: application/pdf; name=table.pdf\r\nContent-Disposition: attachment; filename=table.pdf\r\n\r\nx\r\n--m--\r\n";
        let expected = "# Spring tide\n\n- From: Ad\u{e4} (ada@x.example)\n- To: b@x.example\n- Date: 2026-11-24T10:00:00Z\n- Attached: table.pdf\n\nHigh water at 9.\n";
        assert_eq!(mail(message).unwrap().unwrap(), expected);
    }

    #[test]
    fn html_alone_is_converted() {
        let message = b"Subject: S\r\nContent-Type: text/html\r\n\r\n<h2>Tides</h2><ul><li>high</ul>";
        assert_eq!(mail(message).unwrap().unwrap(), "# S\n\n\n## Tides\n\n- high\n");
    }

    #[test]
    fn other_input_is_refused() {
        for other in [&b""[..], b"\0\x01\x02", b"only a text\n\nwith lines"] {
            assert_eq!(mail(other).unwrap(), None, "{other:?}");
        }
    }
}
