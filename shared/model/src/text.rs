//! Tool calls in the text of an answer, for models without native tool calls.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::{Declaration, Message, Request, answer::PartialCall};

/// The instructions how to write a call.
pub(crate) const RULES: &str = "\n\nTo call a tool, answer with nothing but one JSON object:\n\
    {\"tool\": NAME, \"arguments\": {...}}\nThe tools, each with the schema of its arguments:\n";

/// The instructions how to write a call or an answer, for a server that enforces [`schema`].
pub(crate) const SCHEMA_RULES: &str = "\n\nAnswer with one JSON object: {\"answer\": TEXT}, or, to call a tool, \
    {\"tool\": NAME, \"arguments\": {...}}\nThe tools, each with the schema of its arguments:\n";

/// The schema of a call of one of `tools`, or of an answer.
pub(crate) fn schema(tools: &[Declaration]) -> Value {
    let object = |members: Value, required: Value| json!({"type": "object", "properties": members, "required": required, "additionalProperties": false});
    let call = |tool: &Declaration| {
        let members = json!({"tool": {"type": "string", "enum": [tool.name]}, "arguments": tool.parameters});
        object(members, json!(["tool", "arguments"]))
    };
    let answer = object(json!({"answer": {"type": "string"}}), json!(["answer"]));
    let steps: Vec<_> = tools.iter().map(call).chain([answer.clone()]).collect();
    if tools.is_empty() { answer } else { json!({"anyOf": steps}) }
}

/// The text of an answer in the form of [`schema`]; `None` for a call.
pub(crate) fn answer_text(text: &str) -> Option<String> {
    let object: Map<String, Value> = serde_json::from_str(text.trim()).ok()?;
    object.get("answer").filter(|_| object.len() == 1)?.as_str().map(str::to_owned)
}

/// The text of an answer in the form of [`schema`], as it comes.
#[derive(Debug, Default)]
pub(crate) struct StreamedAnswer {
    json: String,
    /// The end of the part of `json` that is decoded.
    decoded: usize,
    text: String,
    /// How the text ended in `json`; `None` while it continues.
    ended: Option<Ended>,
}

/// How a text in JSON ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// By its quotation mark.
    Closed,
    /// By an escape that JSON does not have. What follows cannot be decoded.
    Invalid,
}

impl StreamedAnswer {
    /// Takes the next `piece` of the JSON text.
    pub(crate) fn feed(&mut self, piece: &str, show: &mut dyn FnMut(&str)) {
        self.json += piece;
        if self.decoded == 0 {
            let mut rest = self.json.as_str();
            for mark in ["{", "\"answer\"", ":", "\""] {
                let Some(after) = rest.trim_start().strip_prefix(mark) else { return };
                rest = after;
            }
            self.decoded = self.json.len() - rest.len();
        }
        if self.ended.is_some() {
            return;
        }
        let rest = &self.json[self.decoded..];
        let (length, ended) = complete_characters(rest);
        let text = decoded(&rest[..length]);
        (self.decoded, self.ended) = (self.decoded + length, ended);
        if !text.is_empty() {
            show(&text);
            self.text += &text;
        }
    }

    /// The text that was shown, and the end of the JSON text that could not be decoded.
    pub(crate) fn end(self) -> (String, String) {
        let rest = match self.ended {
            Some(Ended::Invalid) => self.json[self.decoded..].to_owned(),
            _ => String::new(),
        };
        (self.text, rest)
    }
}

/// The characters of the inside of a JSON text, whose escapes are complete and valid. Models also write line breaks and
/// tabs as they are.
fn decoded(json: &str) -> String {
    let mut quoted = String::from("\"");
    for c in json.chars() {
        if c.is_ascii_control() {
            let _ = write!(quoted, "\\u{:04x}", u32::from(c));
        } else {
            quoted.push(c);
        }
    }
    quoted.push('"');
    serde_json::from_str(&quoted).unwrap_or_default()
}

/// The length of the characters at the start of the inside of a JSON text that are complete, and how the text ends
/// after them; `None` if it may continue.
fn complete_characters(json: &str) -> (usize, Option<Ended>) {
    let mut at = 0;
    while let Some(c) = json[at..].chars().next() {
        at += match c {
            '"' => return (at, Some(Ended::Closed)),
            '\\' => match escape(&json.as_bytes()[at..]) {
                Some(0) => return (at, Some(Ended::Invalid)),
                Some(length) => length,
                None => break,
            },
            c => c.len_utf8(),
        };
    }
    (at, None)
}

/// The length of the escape at the start of `json`, in which all is ASCII; 0 if it is invalid, `None` if more is
/// needed.
fn escape(json: &[u8]) -> Option<usize> {
    match json.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => match code_unit(json)? {
            // The first half of a character needs the second.
            0xd800..=0xdbff if json.len() < 12 => {
                let is_possible = json[6..].iter().zip(b"\\u").all(|(byte, mark)| byte == mark);
                if is_possible && json.iter().skip(8).all(u8::is_ascii_hexdigit) { None } else { Some(0) }
            }
            0xd800..=0xdbff => match json[6..].starts_with(b"\\u").then(|| code_unit(&json[6..])).flatten() {
                Some(0xdc00..=0xdfff) => Some(12),
                _ => Some(0),
            },
            0xdc00..=0xdfff | INVALID => Some(0),
            _ => Some(6),
        },
        _ => Some(0),
    }
}

/// In place of the number of a code unit whose digits are none.
const INVALID: u32 = u32::MAX;

/// The number in the escape `\u` at the start of `json`; `None` if more is needed.
fn code_unit(json: &[u8]) -> Option<u32> {
    let digits = &json[2..json.len().min(6)];
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return Some(INVALID);
    }
    let text = std::str::from_utf8(digits).ok().filter(|text| text.len() == 4)?;
    u32::from_str_radix(text, 16).ok()
}

/// The request with its tools and calls written as text.
///
/// Results come as messages of the person that ask for the answer: with messages of the native form, a model of
/// 1.5 B parameters repeated the same call in 2 of 2 tasks; with these it did 5 of 6 tasks.
pub(crate) fn rendered(request: &Request<'_>, rules: &str) -> (String, Vec<Message>) {
    let mut system = request.system.to_owned();
    if !request.tools.is_empty() {
        system += rules;
        for Declaration { name, description, parameters } in request.tools.iter() {
            let _ = writeln!(system, "- {name}: {description} {parameters}");
        }
    }
    let mut messages: Vec<Message> = vec![];
    for message in request.messages {
        let message = match message {
            Message::User { .. } => message.clone(),
            Message::Assistant { text, calls, .. } => {
                let calls =
                    calls.iter().map(|call| json!({"tool": call.name, "arguments": call.arguments}).to_string());
                let parts: Vec<_> =
                    Some(text.clone()).filter(|text| !text.is_empty()).into_iter().chain(calls).collect();
                Message::Assistant { text: parts.join("\n"), signatures: vec![], calls: vec![] }
            }
            Message::Result { name, text, .. } => Message::User {
                text: format!("Result of {name}: {text}\nNow answer in plain text, or call the next tool."),
            },
        };
        match (messages.last_mut(), &message) {
            (Some(Message::User { text: before }), Message::User { text }) => *before = format!("{before}\n\n{text}"),
            _ => messages.push(message),
        }
    }
    (system, messages)
}

/// Where a call may stand in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// It begins a line. The model writes calls as text.
    OwnLine,
    /// It begins a line, and only calls follow; in a code block, the text has nothing else. The model has not made a
    /// call yet.
    End,
}

/// The marks that models write around calls.
const MARKS: [&str; 4] = ["<tool_call>", "</tool_call>", "```json", "```"];

/// The calls of known tools in `text`, and the text that is left beside them. A call within a line, in a quotation or
/// in a code span is a text about a call: what a page or a file says must not run.
pub(crate) fn calls(text: &str, tools: &[Declaration], position: Position) -> Option<(String, Vec<PartialCall>)> {
    // The texts before, between and after the calls.
    let (mut parts, mut drafts, mut end, mut from) = (vec![], vec![], 0, 0);
    while let Some(at) = text[from..].find('{').map(|found| from + found) {
        from = at + 1;
        let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        if !is_empty(&text[line.max(end)..at]) {
            // Nor does another call begin in this line.
            from = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
            continue;
        }
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Map<String, Value>>();
        let object = values.next().and_then(Result::ok);
        let Some(call) = object.and_then(|object| call(&object, tools)) else { continue };
        parts.push(&text[end..at]);
        drafts.push(call);
        end = at + values.byte_offset();
        from = end;
    }
    if drafts.is_empty() {
        return None;
    }
    let (said, after) = (parts[0], [&parts[1..], &[&text[end..]]].concat());
    let is_quoted = said.contains("```") && !is_empty(said);
    if position == Position::End && (is_quoted || !after.iter().all(|part| is_empty(part))) {
        return None;
    }
    let left = without_marks(&[said, &after.concat()].concat());
    Some((left.trim_matches(is_around).to_owned(), drafts))
}

/// Whether nothing but marks stands in a text.
fn is_empty(text: &str) -> bool {
    without_marks(text).chars().all(is_around)
}

fn without_marks(text: &str) -> String {
    MARKS.iter().fold(text.to_owned(), |text, mark| text.replace(mark, ""))
}

/// Whether a character may stand between a text and its calls.
fn is_around(c: char) -> bool {
    c.is_whitespace() || "[],;".contains(c)
}

/// The text of an answer that may contain calls, as it comes: text that cannot belong to a call is shown immediately.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    text: String,
    shown: usize,
}

/// The beginnings of a call.
const CALLS: [&str; 3] = ["{", "<tool_call>", "```"];

impl Shown {
    /// Takes the next `piece` of the text.
    pub(crate) fn feed(&mut self, piece: &str, show: &mut dyn FnMut(&str)) {
        self.text += piece;
        if self.shown == 0 && self.text.trim_start().is_empty() {
            return;
        }
        let rest = &self.text[self.shown..];
        let certain = CALLS.iter().filter_map(|call| rest.find(call)).min().unwrap_or_else(|| {
            // The end may be the beginning of such a beginning.
            let begun = CALLS.iter().flat_map(|call| (1..call.len()).map(|length| &call[..length]));
            let begun = begun.filter(|begun| rest.ends_with(begun)).map(str::len).max();
            rest.len() - begun.unwrap_or_default()
        });
        if certain > 0 {
            show(&rest[..certain]);
            self.shown += certain;
        }
    }

    /// Shows the rest of the `whole` text, in which the calls are left out.
    pub(crate) fn end(self, whole: &str, show: &mut dyn FnMut(&str)) {
        let shown = self.text[..self.shown].trim_start();
        let without_around = || whole.strip_prefix(shown.trim_start_matches(is_around));
        let rest = whole.trim_start().strip_prefix(shown).or_else(without_around).unwrap_or_default();
        // Nothing was shown of a text that begins otherwise.
        let rest = if self.shown == 0 { whole } else { rest };
        if !rest.is_empty() {
            show(rest);
        }
    }
}

/// The call that `object` is, in one of the forms that models write.
fn call(object: &Map<String, Value>, tools: &[Declaration]) -> Option<PartialCall> {
    let name = ["tool", "name", "function"].into_iter().find_map(|key| object.get(key)?.as_str())?;
    let tool = tools.iter().find(|tool| tool.name == name)?;
    let arguments = ["arguments", "parameters", "args", "input"].into_iter().find_map(|key| object.get(key))?;
    let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
    Some(PartialCall { name: tool.name.clone(), arguments, ..PartialCall::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tools() -> Vec<Declaration> {
        vec![Declaration {
            name: "read_file".into(),
            description: "Read.".into(),
            parameters: json!({"type": "object"}),
        }]
    }

    #[test]
    fn calls_are_recognised_in_every_form_that_models_write() {
        for text in [
            r#"{"tool": "read_file", "arguments": {"path": "a{b"}}"#,
            "```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a{b\"}}\n```",
            "<tool_call>\n{\"name\": \"read_file\", \"parameters\": {\"path\": \"a{b\"}}\n</tool_call>",
            r#"[{"name": "read_file", "arguments": "{\"path\": \"a{b\"}"}]"#,
        ] {
            let (left, drafts) = calls(text, &tools(), Position::End).unwrap();
            assert_eq!(left, "", "{text}");
            assert_eq!(drafts.len(), 1);
            assert_eq!(crate::message::parsed(&drafts[0].arguments), json!({"path": "a{b"}));
        }
        let two = "First { this:\n{\"tool\": \"read_file\", \"args\": {}}{\"tool\": \"read_file\", \"args\": {}}";
        for position in [Position::OwnLine, Position::End] {
            let (left, drafts) = calls(two, &tools(), position).unwrap();
            assert_eq!((left.as_str(), drafts.len()), ("First { this:", 2));
        }
    }

    #[test]
    fn a_call_that_a_text_quotes_does_not_run() {
        let call = r#"{"tool": "read_file", "arguments": {}}"#;
        for quoted in [
            format!("> {call}"),
            format!("The file says {call}."),
            format!("Use `{call}`"),
            format!("- {call}"),
            format!(r#"{{"calls": [{call}]}}"#),
        ] {
            for position in [Position::OwnLine, Position::End] {
                assert!(calls(&quoted, &tools(), position).is_none(), "{quoted}");
            }
        }
        // Only of a model that is known to write its calls as text.
        for quoted in [format!("{call}\nThat is in the file."), format!("The file:\n```json\n{call}\n```")] {
            assert!(calls(&quoted, &tools(), Position::End).is_none(), "{quoted}");
            assert!(calls(&quoted, &tools(), Position::OwnLine).is_some(), "{quoted}");
        }
    }

    #[test]
    fn an_answer_that_shows_json_is_no_call() {
        for text in ["", "{", r#"{"name": "Brest", "arguments": {}}"#, r#"{"name": "read_file"}"#, "read_file(a)"] {
            assert!(calls(text, &tools(), Position::OwnLine).is_none(), "{text}");
        }
    }

    /// The shown parts of a text in pieces, and those at its end.
    fn shown(pieces: &[&str], whole: &str) -> (Vec<String>, Vec<String>) {
        let (mut text, mut before, mut after) = (Shown::default(), vec![], vec![]);
        for piece in pieces {
            text.feed(piece, &mut |shown| before.push(shown.to_owned()));
        }
        text.end(whole, &mut |shown| after.push(shown.to_owned()));
        (before, after)
    }

    #[test]
    fn text_that_is_no_call_is_shown_at_once() {
        let (before, after) = shown(&["It is ", "high ", "water."], "It is high water.");
        assert_eq!((before.len(), before.concat().as_str(), after.len()), (3, "It is high water.", 0));
        let (before, after) = shown(&["Run `ls`:\n`", "``sh\nls\n```"], "Run `ls`:\n```sh\nls\n```");
        assert_eq!((before.concat().as_str(), after.concat().as_str()), ("Run `ls`:\n", "```sh\nls\n```"));
        let (before, after) = shown(&["\n ", "Let me look.\n{\"tool\"", ": 1}"], "Let me look.");
        assert_eq!((before.concat().as_str(), after.len()), ("\n Let me look.\n", 0));
        let (before, after) = shown(&["[1] The gauge. {\"tool\"", ": 1} And more."], "1] The gauge.  And more.");
        assert_eq!((before.concat().as_str(), after.concat().as_str()), ("[1] The gauge. ", " And more."));
        assert_eq!(shown(&["{\"tool\": 1}"], "").0, [""; 0]);
        assert_eq!(shown(&["{\"a\": 1}"], "{\"a\": 1}").1, ["{\"a\": 1}"]);
    }

    #[test]
    fn the_text_of_a_json_answer_is_shown_as_it_comes() {
        let (mut said, mut shown) = (StreamedAnswer::default(), vec![]);
        for piece in [" {\"ans", "wer\" : \"", "It \\", "\"is\\u6f", "6e\\ud83c", "\\udf0a", " high\\n", "\"", "}"] {
            said.feed(piece, &mut |text| shown.push(text.to_owned()));
        }
        assert_eq!(shown, ["It ", "\"is", "潮", "🌊", " high\n"]);
        assert_eq!(said.end(), ("It \"is潮🌊 high\n".to_owned(), String::new()));
        let mut call = StreamedAnswer::default();
        call.feed("{\"tool\": \"answer\", \"arguments\": {\"answer\": \"x\"}}", &mut |_| unreachable!());
        assert_eq!(call.end(), (String::new(), String::new()));
        let mut cut = StreamedAnswer::default();
        cut.feed("{\"answer\": \"It is", &mut |_| ());
        assert_eq!(cut.end().0, "It is");
        // Models write line breaks as they are, and escapes that JSON does not have.
        let mut invalid = StreamedAnswer::default();
        invalid.feed("{\"answer\": \"one\ntwo \\d+ \\é\"}", &mut |_| ());
        assert_eq!(invalid.end(), ("one\ntwo ".to_owned(), "\\d+ \\é\"}".to_owned()));
    }

    proptest! {
        #[test]
        fn a_json_answer_in_pieces_is_shown_whole(text: String, length in 1..5_usize) {
            let whole = json!({"answer": text}).to_string();
            let (mut said, mut shown) = (StreamedAnswer::default(), String::new());
            let characters: Vec<char> = whole.chars().collect();
            for piece in characters.chunks(length) {
                said.feed(&piece.iter().collect::<String>(), &mut |text| shown += text);
            }
            prop_assert_eq!(&shown, &text);
            prop_assert_eq!(said.end(), (text, String::new()));
        }

        #[test]
        fn an_answer_of_any_form_is_shown_to_its_end(rest in "[a\"\\\\u0d8c潮é\n]{0,40}", length in 1usize..5) {
            let whole = format!("{{\"answer\": \"{rest}");
            let (mut said, mut shown) = (StreamedAnswer::default(), String::new());
            let characters: Vec<char> = whole.chars().collect();
            for piece in characters.chunks(length) {
                said.feed(&piece.iter().collect::<String>(), &mut |text| shown += text);
            }
            let (text, left) = said.end();
            prop_assert_eq!(&shown, &text);
            prop_assert!(rest.ends_with(&left));
        }

        #[test]
        fn a_text_without_calls_is_shown_as_a_whole(
            pieces in prop::collection::vec("[a`{<潮\\n ]{0,4}", 0..12),
        ) {
            let whole = pieces.concat();
            let pieces: Vec<_> = pieces.iter().map(String::as_str).collect();
            let (before, after) = shown(&pieces, &whole);
            prop_assert_eq!(before.concat() + &after.concat(), whole);
        }

        #[test]
        fn any_text_is_read(text in "[{}\"a:潮\\\\,\\[\\] ]{0,60}") {
            prop_assert!(calls(&text, &tools(), Position::OwnLine).is_none());
        }
    }
}
