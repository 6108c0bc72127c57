//! Files for a browser of another machine, which reads none of this one: its WebDriver server takes a copy of each.

use std::{
    fs::File,
    io::{self, Cursor, Read, Write},
    path::Path,
    time::Instant,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use ragmaker_tool::ARGUMENT_ERROR;
use serde_json::{Value, json};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::input::StepError;
use crate::{error::CommandError, webdriver::Driver};

/// The maximum size in bytes of a copied file (64 MiB). A command carries it as a whole.
const MAX_BYTES: u64 = 64 << 20;

/// The commands by which servers take a file: those of the nodes of a grid, and of `ChromeDriver`.
const COMMANDS: [&str; 2] = ["se/file", "file"];

/// Copies `files` to the machine of `driver`. Returns the paths of the copies, which end with the session.
pub(crate) fn copy(driver: &Driver, files: &[String], deadline: Instant) -> Result<Vec<String>, StepError> {
    files.iter().map(|file| copy_one(driver, file, deadline)).collect()
}

fn copy_one(driver: &Driver, file: &str, deadline: Instant) -> Result<String, StepError> {
    let archive = archive(Path::new(file)).map_err(|reason| {
        let message = format!("{file} cannot be sent to the machine of the browser: {reason}");
        ARGUMENT_ERROR
            .error(message)
            .remedy("Upload another file, or use a browser of this machine.")
            .detail("argument", "--do")
    })?;
    let encoded = STANDARD.encode(archive);
    let mut refused = String::new();
    for command in COMMANDS {
        match driver.post(command, json!({"file": encoded}), deadline) {
            Ok(Value::String(path)) => return Ok(path),
            Ok(_) => {}
            Err(CommandError::Failed(failed)) => refused = failed.words,
            Err(error) => return Err(error.into()),
        }
    }
    Err(ARGUMENT_ERROR
        .error("the WebDriver server takes no files")
        .remedy("Use a browser of this machine, or a Selenium Grid.")
        .detail("argument", "--webdriver-url")
        .detail("driver", refused)
        .into())
}

/// A zip archive with the file, as the commands take it.
fn archive(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = vec![];
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it has more than {MAX_BYTES} bytes")));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut archive = ZipWriter::new(Cursor::new(vec![]));
    archive.start_file(name, SimpleFileOptions::default().compression_method(CompressionMethod::Stored))?;
    archive.write_all(&content)?;
    Ok(archive.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use zip::ZipArchive;

    use super::*;

    #[test]
    fn an_archive_has_the_file_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tide \u{6f6e}.md");
        std::fs::write(&path, "two a day").unwrap();
        let mut archive = ZipArchive::new(Cursor::new(archive(&path).unwrap())).unwrap();
        let mut content = String::new();
        archive.by_name("tide \u{6f6e}.md").unwrap().read_to_string(&mut content).unwrap();
        assert_eq!((content.as_str(), archive.len()), ("two a day", 1));
    }

    #[test]
    fn a_file_that_is_too_large_is_not_read_to_its_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(MAX_BYTES * 100).unwrap();
        assert!(archive(file.path()).unwrap_err().to_string().contains("more than 67108864 bytes"));
        assert!(archive(Path::new("none")).is_err());
    }
}
