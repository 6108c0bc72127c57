//! Responses that the browser has paused: their headers, and the PDFs to which steps lead.

use serde_json::{Value, json};
use url::Url;

/// The responses that [`answer`] decides about.
pub(crate) fn pattern() -> Value {
    json!({"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"})
}

/// The command that answers the response for a document in a tab with the outermost frame `frame`, and the download that
/// it becomes, as `Page.downloadWillBegin` has it.
///
/// A PDF would be shown in place of the page, by a viewer in which nothing can be read. Without a document the page stays,
/// as with other files.
pub(crate) fn answer(paused: &Value, frame: &str) -> (&'static str, Value, Option<Value>) {
    let id = &paused["requestId"];
    let is_redirect = matches!(paused["responseStatusCode"].as_u64(), Some(300..400));
    if paused["frameId"] != frame || is_redirect || media_type(paused) != "application/pdf" {
        return ("Fetch.continueRequest", json!({"requestId": id}), None);
    }
    let url = paused["request"]["url"].as_str().unwrap_or_default();
    let named = header(paused, "content-disposition").and_then(file_name);
    let last = || Some(Url::parse(url).ok()?.path_segments()?.next_back()?.to_owned());
    let download = json!({"url": url, "suggestedFilename": named.or_else(last).unwrap_or_default()});
    ("Fetch.failRequest", json!({"requestId": id, "errorReason": "Aborted"}), Some(download))
}

/// A header of a paused response.
pub(crate) fn header<'a>(paused: &'a Value, name: &str) -> Option<&'a str> {
    let headers = paused["responseHeaders"].as_array()?;
    let header =
        headers.iter().find(|header| header["name"].as_str().is_some_and(|own| own.eq_ignore_ascii_case(name)));
    header?["value"].as_str()
}

/// The media type of a paused response, in lower case; empty if there is none.
pub(crate) fn media_type(paused: &Value) -> String {
    let value = header(paused, "content-type").unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The file name of a `Content-Disposition` header.
pub(crate) fn file_name(value: &str) -> Option<String> {
    let (_, name) = value.split(';').filter_map(|part| part.split_once('=')).find(|(key, _)| {
        let key = key.trim();
        key.eq_ignore_ascii_case("filename")
    })?;
    let name = name.trim().trim_matches('"');
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_name_and_the_type_that_its_headers_say() {
        let paused = json!({"responseHeaders": [
            {"name": "Content-Type", "value": "Application/PDF; charset=x"},
            {"name": "content-disposition", "value": "attachment; filename=\"../tide tables.pdf\"; size=3"},
        ]});
        assert_eq!(media_type(&paused), "application/pdf");
        let named = |value: &str| file_name(value);
        assert_eq!(header(&paused, "Content-Disposition").and_then(named).as_deref(), Some("tide tables.pdf"));
        assert_eq!(named("inline"), None);
        assert_eq!(named("attachment; filename=a.zip").as_deref(), Some("a.zip"));
        assert_eq!(media_type(&json!({})), "");
    }
}
