//! A document of the tab: its request, its response, and the reason of a failure.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};

/// The request for a document, with its response or failure.
#[derive(Debug, Default)]
pub(crate) struct NavigationDocument {
    /// The id of the request.
    pub(super) request: String,
    pub(super) url: String,
    pub(super) response: Value,
    /// The time of the request.
    pub(super) asked: Option<Instant>,
    /// The response time of its server.
    pub(super) answer_time: Duration,
    /// Whether the whole body was received.
    pub(super) is_complete: bool,
    /// The reason why it could not be loaded, as Chromium's name.
    pub(super) failure: Option<String>,
}

impl NavigationDocument {
    /// The HTTP status; 0 if no response is known.
    pub(crate) fn status(&self) -> u16 {
        self.response["status"].as_u64().and_then(|status| status.try_into().ok()).unwrap_or_default()
    }

    /// The media type.
    pub(crate) fn media_type(&self) -> Option<&str> {
        media_type(&self.response)
    }

    /// The IP address of the server, if it is known.
    pub(crate) fn address(&self) -> Option<&str> {
        self.response["remoteIPAddress"].as_str()
    }

    /// The headers, their names in lower case.
    pub(crate) fn headers(&self) -> Value {
        headers(&self.response)
    }

    /// The URL and the reason of the failure, if it failed.
    pub(crate) fn failure(&self) -> Option<(&str, &str)> {
        Some((&self.url, self.failure.as_deref()?))
    }

    /// The reason why the transfer was interrupted, if it was.
    pub(crate) fn broke_off(&self) -> Option<&str> {
        let complete = ["net::ERR_ABORTED", "net::ERR_HTTP_RESPONSE_CODE_FAILURE"];
        self.failure.as_deref().filter(|failure| !self.response.is_null() && !complete.contains(failure))
    }
}

/// The media type of a response.
pub(super) fn media_type(response: &Value) -> Option<&str> {
    response["mimeType"].as_str()
}

/// The headers of a response, their names in lower case.
pub(super) fn headers(response: &Value) -> Value {
    let headers = response["headers"].as_object().into_iter().flatten();
    headers.map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_breaks_off_only_after_it_has_begun() {
        let mut document =
            NavigationDocument { failure: Some("net::ERR_FAILED".into()), ..NavigationDocument::default() };
        assert_eq!((document.broke_off(), document.status()), (None, 0));
        document.response = json!({"status": 200, "mimeType": "text/html", "headers": {"X-A": "1"}});
        assert_eq!(document.broke_off(), Some("net::ERR_FAILED"));
        assert_eq!((document.status(), document.media_type()), (200, Some("text/html")));
        assert_eq!(document.headers(), json!({"x-a": "1"}));
        document.failure = Some("net::ERR_ABORTED".into());
        assert_eq!(document.broke_off(), None);
    }
}
