//! A web archive: WACZ 1.1.1 (<https://specs.webrecorder.net/wacz/1.1.1/>) with a WARC 1.1 file (ISO 28500).
//!
//! The archive contains the Markdown of the knowledge base. So each document is a record of type `resource`, which is
//! the content of an address, and not of type `response`, which would be the answer of a server.

use std::io::{self, Write};

use flate2::{Compression, write::GzEncoder};
use ragmaker_catalog::now;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use crate::documents::{ExportedDocument, ExportedKnowledgeBase};

const VERSION: &str = "1.1.1";
const SOFTWARE: &str = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
const WARC: &str = "archive/data.warc.gz";
const WARC_NAME: &str = "data.warc.gz";
const MEDIA_TYPE: &str = "text/markdown";

/// A record in the archive.
struct Record {
    key: String,
    timestamp: String,
    url: String,
    digest: String,
    offset: usize,
    length: usize,
}

/// Writes the archive.
pub(crate) fn write(source: &ExportedKnowledgeBase, out: &mut impl Write) -> io::Result<()> {
    let (mut warc, mut pages) = (vec![], vec![]);
    let created = now();
    let info = format!("software: {SOFTWARE}\r\nformat: WARC File Format 1.1\r\n");
    append(
        &mut warc,
        "warcinfo",
        &[("WARC-Filename", WARC_NAME)],
        &created,
        "application/warc-fields",
        info.as_bytes(),
    )?;
    let head = json!({"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": true});
    pages.extend(format!("{head}\n").into_bytes());
    let mut records = vec![];
    for document in &source.documents {
        let body = document.body()?;
        let (url, date) = (target(document), date(document, &created));
        let offset = warc.len();
        let media_type = "text/markdown; charset=utf-8";
        let digest = append(&mut warc, "resource", &[("WARC-Target-URI", &url)], &date, media_type, body.as_bytes())?;
        let length = warc.len() - offset;
        let page = json!({"id": digest[..16], "url": url, "ts": date, "title": document.title(), "text": body});
        pages.extend(format!("{page}\n").into_bytes());
        let timestamp = date.chars().filter(char::is_ascii_digit).take(14).collect();
        records.push(Record { key: surt(&url), timestamp, url, digest, offset, length });
    }
    let index = index(records);
    let resources: Vec<Value> = [(WARC, &warc), ("indexes/index.cdx", &index), ("pages/pages.jsonl", &pages)]
        .iter()
        .map(|(path, bytes)| {
            let name = path.rsplit('/').next().unwrap_or(path);
            json!({"name": name, "path": path, "hash": format!("sha256:{}", sha256(bytes)), "bytes": bytes.len()})
        })
        .collect();
    let package = json!({
        "profile": "data-package",
        "wacz_version": VERSION,
        "title": source.title(),
        "description": source.header.summary.as_deref().unwrap_or_default(),
        "created": created,
        "software": SOFTWARE,
        "resources": resources,
    });
    let package = format!("{package:#}\n");
    let digest = json!({"path": "datapackage.json", "hash": format!("sha256:{}", sha256(package.as_bytes()))});
    let mut archive = ZipWriter::new_stream(out);
    // Readers take parts of the WARC out of the archive by offset: it is not compressed once more.
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    let deflated = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
    for (path, bytes, options) in [
        (WARC, &warc[..], stored),
        ("indexes/index.cdx", &index, stored),
        ("pages/pages.jsonl", &pages, deflated),
        ("datapackage.json", package.as_bytes(), deflated),
        ("datapackage-digest.json", format!("{digest:#}\n").as_bytes(), deflated),
    ] {
        archive.start_file(path, options)?;
        archive.write_all(bytes)?;
    }
    archive.finish()?;
    Ok(())
}

/// Appends a record as a separate gzip member; returns the SHA-256 of its block.
fn append(
    warc: &mut Vec<u8>,
    kind: &str,
    more: &[(&str, &str)],
    date: &str,
    media_type: &str,
    block: &[u8],
) -> io::Result<String> {
    let digest = sha256(block);
    // A UUID of version 8, which is for identifiers of one's own making; the same for the same record.
    let id = sha256(format!("{kind} {date} {more:?} {digest}").as_bytes());
    let id = format!("{}-{}-8{}-a{}-{}", &id[..8], &id[8..12], &id[13..16], &id[17..20], &id[20..32]);
    let mut member = GzEncoder::new(warc, Compression::default());
    write!(member, "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\nWARC-Date: {date}\r\n")?;
    for (name, value) in more {
        write!(member, "{name}: {value}\r\n")?;
    }
    let length = block.len();
    write!(
        member,
        "WARC-Block-Digest: sha256:{digest}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n"
    )?;
    member.write_all(block)?;
    member.write_all(b"\r\n\r\n")?;
    member.finish()?;
    Ok(digest)
}

/// The index of the records, in CDXJ: sorted, a line for each.
fn index(mut records: Vec<Record>) -> Vec<u8> {
    records.sort_by(|one, other| (&one.key, &one.timestamp).cmp(&(&other.key, &other.timestamp)));
    let mut lines = vec![];
    for Record { key, timestamp, url, digest, offset, length } in records {
        let facts = json!({
            "url": url, "mime": MEDIA_TYPE, "status": "200", "digest": format!("sha256:{digest}"),
            "length": length.to_string(), "offset": offset.to_string(), "filename": WARC_NAME,
        });
        lines.extend(format!("{key} {timestamp} {facts}\n").into_bytes());
    }
    lines
}

/// The address of a document in the archive: its URL, or a URN made of its path.
fn target(document: &ExportedDocument) -> String {
    let address = document.address();
    // Written as RFC 3986 has it: no line break or space can end the header.
    if let Ok(url) = Url::parse(address) {
        return url.into();
    }
    let mut name = "urn:document:".to_owned();
    for byte in address.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'/' => name.push(byte.into()),
            _ => name.extend(['%'].into_iter().chain(format!("{byte:02X}").chars())),
        }
    }
    name
}

/// When a document was fetched, as the formats have it; `otherwise` where the catalog does not say so.
fn date(document: &ExportedDocument, otherwise: &str) -> String {
    let fetched = document.listed.fetched_at.as_deref().unwrap_or_default();
    let shape: String = fetched.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    if shape == "0000-00-00T00:00:00Z" { fetched.to_owned() } else { otherwise.to_owned() }
}

/// An address as an index is sorted by it: the host from its end, in lower case.
fn surt(url: &str) -> String {
    let lower = url.to_lowercase();
    let Ok(parsed) = Url::parse(&lower) else { return lower };
    let (Some(host), "http" | "https") = (parsed.host_str(), parsed.scheme()) else { return lower };
    let host = host.split_once('.').filter(|(first, _)| is_www(first)).map_or(host, |(_, rest)| rest);
    let mut key = if host.parse::<std::net::IpAddr>().is_ok() || host.starts_with('[') {
        host.to_owned()
    } else {
        host.rsplit('.').collect::<Vec<_>>().join(",")
    };
    if let Some(port) = parsed.port() {
        key.extend([":", &port.to_string()]);
    }
    key.push(')');
    key += parsed.path();
    if let Some(query) = parsed.query() {
        let mut parts: Vec<_> = query.split('&').collect();
        parts.sort_by_key(|part| part.split('=').next().map(str::to_owned));
        key.push('?');
        key += &parts.join("&");
    }
    key
}

fn is_www(label: &str) -> bool {
    label.strip_prefix("www").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_tools_that_read_archives() {
        for (url, key) in [
            ("https://www.example.com/A/b?z=1&a=2", "com,example)/a/b?a=2&z=1"),
            ("http://docs.example.com:8080/", "com,example,docs:8080)/"),
            ("http://127.0.0.1:9/x", "127.0.0.1:9)/x"),
            ("urn:document:a.md", "urn:document:a.md"),
        ] {
            assert_eq!(surt(url), key);
        }
    }
}
