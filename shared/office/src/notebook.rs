//! Jupyter notebooks (nbformat 3 and 4): the cells in order, with their output.

use std::{io, path::Path};

use ragmaker_text::ByteSource;
use serde_json::Value;

/// The maximum size in bytes of a notebook file (64 MiB).
const MAX_BYTES: u64 = 64 << 20;

/// Whether the file at `path` has the name of a notebook.
pub fn is_notebook_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"))
}

/// The notebook in `source`, the file at `path`, as Markdown; `None` if the name or the content is of another format.
///
/// # Errors
/// An I/O error if `source` cannot be read.
pub fn notebook_file(path: &Path, source: &ByteSource) -> io::Result<Option<ByteSource>> {
    if !is_notebook_name(path) || source.size() > MAX_BYTES {
        return Ok(None);
    }
    let mut bytes = vec![0; usize::try_from(source.size()).unwrap_or_default()];
    let count = source.read_at(0, &mut bytes)?;
    let markdown = std::str::from_utf8(&bytes[..count]).ok().and_then(notebook);
    Ok(markdown.map(|markdown| ByteSource::Memory(markdown.into_bytes())))
}

/// Converts the notebook in `json` to Markdown; `None` if it is not a notebook.
///
/// If an output has several formats, Markdown is preferred to plain text. Images are omitted.
pub fn notebook(json: &str) -> Option<String> {
    let notebook: Value = serde_json::from_str(json).ok()?;
    let cells = notebook["cells"].as_array().or_else(|| notebook["worksheets"][0]["cells"].as_array())?;
    let named = |value: &Value| value.as_str().map(str::to_owned);
    let metadata = &notebook["metadata"];
    let language = named(&metadata["language_info"]["name"]).or_else(|| named(&metadata["kernelspec"]["language"]));
    let language = language.filter(|name| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '+' | '#' | '-')));
    let language = language.unwrap_or_default();
    let mut out = String::new();
    for cell in cells {
        let source = text(&cell["source"]).or_else(|| text(&cell["input"])).unwrap_or_default();
        match cell["cell_type"].as_str() {
            Some("markdown") => add(&mut out, source.trim()),
            Some("heading") => {
                let level = cell["level"].as_u64().unwrap_or(1).clamp(1, 6) as usize;
                add(&mut out, &format!("{} {}", "#".repeat(level), source.trim()));
            }
            Some("code") => {
                add(&mut out, &fenced(&source, &language));
                for output in cell["outputs"].as_array().into_iter().flatten() {
                    add(&mut out, &output_text(output));
                }
            }
            // Raw cells are input for other programs.
            _ => add(&mut out, &fenced(&source, "text")),
        }
    }
    Some(out)
}

/// A text, stored as a string or as an array of lines.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

fn add(out: &mut String, block: &str) {
    if !block.is_empty() {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(block);
        out.push('\n');
    }
}

fn fenced(text: &str, language: &str) -> String {
    let text = text.trim_matches('\n');
    if text.trim().is_empty() {
        return String::new();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

/// The text of an output.
fn output_text(output: &Value) -> String {
    let data = &output["data"];
    if let Some(markdown) = text(&data["text/markdown"]) {
        return markdown.trim().to_owned();
    }
    let plain = text(&data["text/plain"]).or_else(|| text(&output["text"]));
    let failed = || {
        let (name, value) = (output["ename"].as_str()?, output["evalue"].as_str().unwrap_or_default());
        Some(format!("{name}: {value}"))
    };
    fenced(&without_colours(&plain.or_else(failed).unwrap_or_default()), "text")
}

/// `text` without terminal escape sequences (ECMA-48, 5.4).
fn without_colours(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        kept.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        let end = after.find(|c: char| matches!(c, '@'..='~')).map_or(after.len(), |end| end + 1);
        rest = &after[end..];
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_their_output_are_in_order() {
        let json = r##"{"metadata": {"kernelspec": {"language": "python"}}, "cells": [
            {"cell_type": "markdown", "source": ["# Tides\n", "\n", "Two a day."]},
            {"cell_type": "code", "source": "print('```')", "outputs": [
                {"output_type": "stream", "text": ["\u001b[31mhigh\u001b[0m\n"]},
                {"output_type": "display_data", "data": {"image/png": "AAAA"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "low"}]},
            {"cell_type": "code", "source": "", "outputs": []}]}"##;
        let expected = "# Tides\n\nTwo a day.\n\n````python\nprint('```')\n````\n\n```text\nhigh\n```\n\n```text\nValueError: low\n```\n";
        assert_eq!(notebook(json).unwrap(), expected);
    }

    #[test]
    fn other_input_is_refused() {
        for other in ["", "{}", "[]", "{\"cells\": 7}", "{\"cells\": ["] {
            assert_eq!(notebook(other), None, "{other}");
        }
        assert_eq!(notebook("{\"cells\": [7, {\"cell_type\": null}]}").unwrap(), "");
    }
}
