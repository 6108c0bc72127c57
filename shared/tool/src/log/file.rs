//! The facts about the file of a call: size, MIME type, number of lines.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use ragmaker_media::{binary_type, is_binary, text_type};
use serde_json::{Map, Value};

/// The maximum size in bytes of a file whose lines are counted.
const MAX_COUNTED: u64 = 16 << 20;

/// Adds the facts about the file at `path` that `line` does not have. A path that is not a file has none.
pub(super) fn describe(path: &Path, line: &mut Map<String, Value>) {
    let _ = try_describe(path, line);
}

fn try_describe(path: &Path, line: &mut Map<String, Value>) -> io::Result<()> {
    // Opening a FIFO would wait for its writer.
    let found = path.metadata()?;
    if !found.is_file() {
        return Ok(());
    }
    let mut add = |name: &str, value: Value| {
        line.entry(name).or_insert(value);
    };
    add("bytes", found.len().into());
    let mut content = vec![];
    File::open(path)?.take(MAX_COUNTED + 1).read_to_end(&mut content)?;
    if is_binary(&content) || content.contains(&0) {
        add("mime_type", binary_type(&content).unwrap_or("application/octet-stream").into());
        return Ok(());
    }
    let is_whole = content.len() as u64 <= MAX_COUNTED;
    add("mime_type", text_type(&content, is_whole, path).into());
    if is_whole {
        let breaks = content.split(|byte| *byte == b'\n').count() - 1;
        add("lines", (breaks + usize::from(content.last().is_some_and(|last| *last != b'\n'))).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(name: &str, content: &[u8]) -> Map<String, Value> {
        let folder = std::env::temp_dir().join(format!("ragmaker-log-{}-{name}", std::process::id()));
        std::fs::write(&folder, content).unwrap();
        let mut line = Map::new();
        describe(&folder, &mut line);
        std::fs::remove_file(folder).unwrap();
        line
    }

    #[test]
    fn a_file_has_size_type_and_lines() {
        let text = described("a.rs", b"fn main() {\n}");
        assert_eq!(
            (&text["bytes"], &text["mime_type"], &text["lines"]),
            (&13.into(), &"text/x-rust".into(), &2.into())
        );
        let binary = described("b", b"%PDF-1.7\n\0");
        assert_eq!((&binary["mime_type"], binary.get("lines")), (&"application/pdf".into(), None));
        assert_eq!(described("empty.txt", b"")["lines"], 0);
        let mut folder = Map::new();
        describe(&std::env::temp_dir(), &mut folder);
        assert!(folder.is_empty());
    }
}
