//! Responses that the browser has paused: their headers, and the PDFs to which steps lead.

use percent_encoding::percent_decode_str;
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
    let last = || Url::parse(url).map(|url| name_in_url(&url)).unwrap_or_default();
    let download = json!({"url": url, "suggestedFilename": named.unwrap_or_else(last)});
    ("Fetch.failRequest", json!({"requestId": id, "errorReason": "Aborted"}), Some(download))
}

/// The decoded end of the path of `url`; empty if the path ends with `/`.
pub fn name_in_url(url: &Url) -> String {
    let segment = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
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

/// The file name of a `Content-Disposition` header (RFC 6266). `filename*` counts more than `filename`: only it can have
/// letters that are not ASCII.
pub(crate) fn file_name(value: &str) -> Option<String> {
    let (mut quoted, mut escaped) = (false, false);
    // A name in quotes may have semicolons in it.
    let parts = value.split(|c| {
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && quoted && !escaped;
        c == ';' && !quoted
    });
    let parameters: Vec<_> = parts.filter_map(|part| part.split_once('=')).collect();
    let named = |name: &str| {
        let found = parameters.iter().find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    };
    let name = named("filename*").and_then(extended).or_else(|| named("filename").map(unquoted))?;
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    (!name.is_empty()).then(|| name.to_owned())
}

fn unquoted(value: &str) -> String {
    let inner = value.strip_prefix('"').map(|value| value.strip_suffix('"').unwrap_or(value));
    inner.map_or_else(|| value.to_owned(), |inner| inner.replace("\\\"", "\""))
}

/// The text of a value such as `UTF-8''tide%20tables` (RFC 8187).
fn extended(value: &str) -> Option<String> {
    let (charset, text) = value.split_once('\'')?;
    let (_language, text) = text.split_once('\'')?;
    let decoded = percent_decode_str(text).decode_utf8().ok().filter(|_| charset.eq_ignore_ascii_case("utf-8"))?;
    Some(decoded.into_owned())
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
    #[test]
    fn a_file_name_may_be_quoted_and_in_any_alphabet() {
        for (value, name) in [
            ("attachment; filename=\"tides; part 1.pdf\"; size=3", Some("tides; part 1.pdf")),
            ("attachment; size=3; FileName = a.zip ", Some("a.zip")),
            ("attachment; filename=\"6\\\" tide; a.pdf\"", Some("6\" tide; a.pdf")),
            ("attachment; filename=\"C:\\tides\\a.pdf\"", Some("a.pdf")),
            ("attachment; filename=\"open.pdf", Some("open.pdf")),
            ("attachment; filename=\"a=b.pdf\"", Some("a=b.pdf")),
            ("attachment; filename=tide.pdf; filename*=UTF-8''%E6%BD%AE.pdf", Some("\u{6f6e}.pdf")),
            ("attachment; filename*=utf-8'ja'a%20b.pdf", Some("a b.pdf")),
            ("attachment; filename*=UTF-8''..%2F..%2Fa.pdf", Some("a.pdf")),
            // What is not UTF-8 is left to the other name.
            ("attachment; filename*=UTF-8''%FF.pdf; filename=a.pdf", Some("a.pdf")),
            ("attachment; filename*=iso-8859-1'en'%C3%A9.pdf; filename=a.pdf", Some("a.pdf")),
            ("attachment; filename*=a.pdf", None),
            ("attachment; filename=\"\"", None),
            ("attachment; filename=\"tides/\"", None),
            ("", None),
        ] {
            assert_eq!(file_name(value).as_deref(), name, "{value}");
        }
    }

    #[test]
    fn only_a_pdf_for_the_page_itself_becomes_a_download() {
        let paused = |frame: &str, status: u16, media_type: &str| {
            json!({"requestId": "r", "frameId": frame, "responseStatusCode": status,
                "request": {"url": "http://a.test/tables/tide%20table?x=1"},
                "responseHeaders": [{"name": "content-type", "value": media_type}]})
        };
        let (command, params, download) = answer(&paused("top", 200, "application/pdf"), "top");
        assert_eq!((command, &params["requestId"]), ("Fetch.failRequest", &json!("r")));
        assert_eq!(download.unwrap()["suggestedFilename"], "tide table");
        for (frame, status, media_type) in
            [("inner", 200, "application/pdf"), ("top", 302, "application/pdf"), ("top", 200, "text/html")]
        {
            let (command, params, download) = answer(&paused(frame, status, media_type), "top");
            assert_eq!((command, params, download), ("Fetch.continueRequest", json!({"requestId": "r"}), None));
        }
    }
}
