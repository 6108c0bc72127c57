//! Files in place of pages: their bytes, received by the tab itself.
//!
//! The browser shows no file and saves none. The tab is sent to the URL again, as a person would go there, with the
//! session's cookies. Its response is paused, and the body is read from the browser instead of being shown. So files
//! behind a login, and browsers of other machines, need nothing else.
//!
//! The bytes go to a file without a name, block by block: several tabs receive files at the same time, and this process
//! holds none of them in memory. The system removes the file when it is closed, also if the process is killed.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Write},
    sync::Arc,
    time::Instant,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use ragmaker_text::FILE_TOO_LARGE;
use ragmaker_tool::Error;
use serde_json::{Value, json};
use url::Url;

use crate::{
    error::{CommandError, Failure, navigation_failed},
    navigation::Navigation,
    page::PageFile,
    paused_response::{self, file_name, header, media_type},
};

/// The maximum size in bytes of a file (64 MiB).
const MAX_BYTES: u64 = 64 << 20;

/// The number of bytes of a read (256 KiB). Eight tabs hold a few copies of one each.
const BLOCK: usize = 256 << 10;

/// Receives the file at the URL of `navigation`. Returns its URL after redirects, its HTTP status and the file.
pub(crate) fn receive(navigation: &mut Navigation<'_>) -> Result<(Url, u16, PageFile), Failure> {
    let url = navigation.url.clone();
    let mut download = Download { navigation, url };
    let received = download.run();
    // A page that is shown next needs its own rules.
    let _ = download.command("Fetch.disable", &json!({}));
    received
}

struct Download<'n, 'a> {
    navigation: &'n mut Navigation<'a>,
    url: Url,
}

impl Download<'_, '_> {
    fn run(&mut self) -> Result<(Url, u16, PageFile), Failure> {
        let loading = self.navigation.loading.clone();
        let mut patterns = loading.patterns().unwrap_or_default();
        patterns.push(paused_response::pattern());
        self.navigation.tab.socket.keep_page(false);
        let sent = self.navigation.tab.socket.decide_requests(loading);
        sent.map_err(|error| self.failure(error))?;
        self.command("Fetch.enable", &json!({"patterns": patterns}))?;
        self.navigation.handle_events();
        // The request for the document.
        let mut requested = Value::Null;
        let sent = self.navigation.tab.socket.navigate(self.url.as_str());
        sent.map_err(|error| self.failure(error))?;
        loop {
            let received = self.navigation.tab.socket.receive_event(self.navigation.deadline);
            if !received.map_err(|error| self.failure(error))? {
                return Err(self.failure(CommandError::Late));
            }
            for event in self.navigation.tab.socket.take_events() {
                let params = &event.params;
                let is_document = params["resourceType"] == "Document" || params["type"] == "Document";
                match event.method.as_str() {
                    "Fetch.requestPaused" if params["frameId"] != *self.navigation.tab.socket.frame() => {
                        self.command("Fetch.continueRequest", &json!({"requestId": params["requestId"]}))?;
                    }
                    "Fetch.requestPaused" if matches!(params["responseStatusCode"].as_u64(), Some(300..400)) => {
                        self.command("Fetch.continueRequest", &json!({"requestId": params["requestId"]}))?;
                    }
                    "Fetch.requestPaused" => return self.take(params),
                    "Network.requestWillBeSent"
                        if is_document && params["frameId"] == *self.navigation.tab.socket.frame() =>
                    {
                        requested = params["requestId"].clone();
                        self.navigation.network.handle(&event.method, params);
                    }
                    // The end of the download that the first navigation began may be reported late.
                    "Network.loadingFailed" if is_document && params["requestId"] == requested => {
                        let net_error = params["errorText"].as_str().unwrap_or("net::ERR_FAILED");
                        return Err(navigation_failed(self.url.as_str(), net_error).into());
                    }
                    _ => self.navigation.network.handle(&event.method, params),
                }
            }
        }
    }

    /// Takes the body of the paused response.
    fn take(&mut self, paused: &Value) -> Result<(Url, u16, PageFile), Failure> {
        let status = paused["responseStatusCode"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(0);
        let url = paused["request"]["url"].as_str().and_then(|url| Url::parse(url).ok());
        let url = url.unwrap_or_else(|| self.url.clone());
        let refusal = self.refusal(&url, paused);
        let request = json!({"requestId": paused["requestId"]});
        let body = match refusal {
            None => self.body(&request, &url),
            Some(error) => Err(error.into()),
        };
        let ended = json!({"requestId": paused["requestId"], "errorReason": "Aborted"});
        self.command("Fetch.failRequest", &ended)?;
        let media_type = media_type(paused);
        let name = header(paused, "content-disposition").and_then(file_name);
        Ok((url, status, PageFile { content: Arc::new(body?), media_type, name }))
    }

    /// The reason why the file may not be taken.
    fn refusal(&self, url: &Url, paused: &Value) -> Option<Error> {
        let allowed = ragmaker_address::check(url).and_then(|()| self.navigation.domains.check(url));
        let reached = self.navigation.loading.request_policy().map_or(Ok(()), |reach| reach.check(url, None));
        allowed.and(reached).err().or_else(|| is_announced_too_long(paused).then(|| too_long(url)))
    }

    /// Receives the body into a file.
    fn body(&mut self, request: &Value, url: &Url) -> Result<File, Failure> {
        let not_kept = |error: io::Error| {
            let message = format!("there is not enough space for the file: {error}");
            FILE_TOO_LARGE.error(message).remedy("Free space in the folder for temporary files (TMPDIR).")
        };
        let stream = self.command("Fetch.takeResponseBodyAsStream", request)?["stream"].take();
        let mut file = tempfile::tempfile().map_err(not_kept)?;
        let mut size = 0;
        loop {
            let part = self.command("IO.read", &json!({"handle": stream, "size": BLOCK}))?;
            let bytes = bytes(&part);
            size += bytes.len() as u64;
            if size > MAX_BYTES {
                return Err(too_long(url).into());
            }
            file.write_all(&bytes).map_err(not_kept)?;
            if part["eof"] == true {
                self.command("IO.close", &json!({"handle": stream}))?;
                return Ok(file);
            }
            if Instant::now() >= self.navigation.deadline {
                return Err(self.failure(CommandError::Late));
            }
        }
    }

    fn command(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        let answer = self.navigation.tab.socket.ask(None, method, params, self.navigation.deadline);
        answer.map_err(|error| self.failure(error))
    }

    fn failure(&self, error: CommandError) -> Failure {
        Failure::of(error, &self.url)
    }
}

/// Whether a paused response says that its body is longer than a file may be. Its length may be unknown.
fn is_announced_too_long(paused: &Value) -> bool {
    let length = header(paused, "content-length").and_then(|length| length.trim().parse::<u64>().ok());
    length.is_some_and(|length| length > MAX_BYTES)
}

/// The bytes in an answer of `IO.read`.
fn bytes(part: &Value) -> Cow<'_, [u8]> {
    let data = part["data"].as_str().unwrap_or_default();
    if part["base64Encoded"] == true {
        STANDARD.decode(data).unwrap_or_default().into()
    } else {
        data.as_bytes().into()
    }
}

fn too_long(url: &Url) -> Error {
    FILE_TOO_LARGE
        .error(format!("the URL leads to a file of more than {MAX_BYTES} bytes"))
        .remedy("Skip this file, or load it with another program.")
        .detail("url", url.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_checked_before_the_file_is_received() {
        let is_too_long = |name: &str, length: String| {
            is_announced_too_long(&json!({"responseHeaders": [{"name": name, "value": length}]}))
        };
        assert!(!is_too_long("Content-Length", MAX_BYTES.to_string()));
        assert!(is_too_long("content-length", format!(" {} ", MAX_BYTES + 1)));
        for length in ["", "-1", "many"] {
            assert!(!is_too_long("Content-Length", length.into()), "{length}");
        }
        assert!(!is_announced_too_long(&Value::Null));
    }

    #[test]
    fn a_part_is_text_or_base64() {
        assert_eq!(*bytes(&json!({"data": "dGlkZQ==", "base64Encoded": false})), *b"dGlkZQ==");
        assert_eq!(*bytes(&json!({"data": "AP8K", "base64Encoded": true})), [0, 0xff, b'\n']);
        assert!(bytes(&json!({"eof": true})).is_empty());
    }
}
