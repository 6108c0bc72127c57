//! The updates as JSON: from the argument, a file, or standard input.

use std::path::Path;

use ragmaker_catalog::{DocumentName, Update};
use ragmaker_files::{InputError, read_standard_input, read_text_file};
use ragmaker_tool::{ARGUMENT_ERROR, Code, Error, Invocation};
use serde::Deserialize;
use serde_json::Value;

/// The file with the updates cannot be read.
pub const UPDATES_NOT_READABLE: Code =
    Code::new("UPDATES_NOT_READABLE", "Give a regular file of JSON as --updates @FILE, or the JSON itself.");

/// The largest list of updates, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// An element of the list, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Element {
    path: Option<String>,
    url: Option<String>,
    title: Option<String>,
    summary: Option<String>,
}

/// Reads the updates in `argument`: JSON, `@file`, or `-` for standard input.
pub(crate) fn read(argument: &str, invocation: &Invocation) -> Result<Vec<Update>, Error> {
    // Only `-` is standard input, not `@-`: hosts replace the value `-`, because their own standard input has messages.
    let text = match (argument, argument.strip_prefix('@')) {
        ("-", _) => read_standard_input(MAX_BYTES).map_err(|reason| failed(reason, "standard input"))?,
        (_, Some(path)) => {
            let text = read_text_file(Path::new(path), invocation, MAX_BYTES);
            text.map_err(|reason| failed(reason, path).detail("path", path))?
        }
        (text, None) => text.to_owned(),
    };
    // PowerShell writes a byte order mark.
    let json: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| invalid(&format!("it is not JSON: {error}")))?;
    let listed = match json {
        Value::Array(listed) => listed,
        one @ Value::Object(_) => vec![one],
        _ => return Err(invalid("it is neither an array nor an object")),
    };
    if listed.is_empty() {
        return Err(invalid("it lists nothing"));
    }
    listed.into_iter().enumerate().map(|(at, one)| update(one).map_err(|reason| invalid_element(at, &reason))).collect()
}

fn update(json: Value) -> Result<Update, String> {
    let Element { path, url, title, summary } = serde_json::from_value(json).map_err(|error| error.to_string())?;
    let document = match (path, url) {
        (Some(path), None) if !path.trim().is_empty() => DocumentName::Path(path),
        (None, Some(url)) if !url.trim().is_empty() => DocumentName::Url(url),
        _ => return Err("it needs a path or a url, one of the two".into()),
    };
    if [&title, &summary].into_iter().flatten().any(|text| text.trim().is_empty()) {
        return Err("its title or summary is empty".into());
    }
    if title.is_none() && summary.is_none() {
        return Err("it has neither title nor summary".into());
    }
    Ok(Update { document, title, summary, new: None })
}

fn invalid(reason: &str) -> Error {
    ARGUMENT_ERROR
        .error(format!("invalid value for --updates: {reason}"))
        .remedy(r#"Write [{"path": "documents/a.md", "title": "…", "summary": "…"}], or name documents by "url"."#)
        .detail("argument", "--updates")
}

fn invalid_element(at: usize, reason: &str) -> Error {
    invalid(&format!("element {at}: {reason}")).detail("index", at)
}

fn failed(reason: InputError, name: &str) -> Error {
    match reason {
        InputError::Refused(error) => error,
        reason => UPDATES_NOT_READABLE.error(format!("cannot read {name}: {reason}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(argument: &str) -> Result<Vec<Update>, Error> {
        super::read(argument, &Invocation::default())
    }

    #[test]
    fn impossible_updates_are_rejected_with_position() {
        for (text, reason) in [
            ("", "not JSON"),
            ("7", "neither an array nor an object"),
            ("[]", "lists nothing"),
            ("[7]", "element 0"),
            (r#"[{"path": "a", "title": "b"}, {"path": "a", "titel": "b"}]"#, "element 1: unknown field"),
            (r#"{"path": "a", "url": "b", "title": "c"}"#, "one of the two"),
            (r#"{"title": "c"}"#, "one of the two"),
            (r#"{"path": " ", "title": "c"}"#, "one of the two"),
            (r#"{"path": "a"}"#, "neither title nor summary"),
            (r#"{"path": "a", "title": "b", "summary": " "}"#, "is empty"),
            (r#"{"path": "a", "title": 7}"#, "invalid type"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.message().contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn one_update_needs_no_list() {
        let updates = read("\u{feff}{\"url\": \"u\", \"title\": \"t\"}").unwrap();
        assert_eq!((updates.len(), updates[0].document.as_str()), (1, "u"));
    }
}
