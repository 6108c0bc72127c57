//! Archives: whole, truncated and damaged.

use std::io::{Cursor, Write};

use flate2::{Compression, write::GzEncoder};

use super::*;

const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Tides";

fn record(kind: &str, id: &str, block: &str) -> Vec<u8> {
    let head = format!(
        "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\n\
         WARC-Target-URI: <https://x.example/{id}>\r\nWARC-Date: 2026-01-31T00:00:00Z\r\n\
         Content-Type: application/http;\r\n  msgtype=response\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    );
    head.into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// For each record, the last character of its id, and the text of the page or the error message; `broken` and the
/// error if the stream is.
fn read(archive: Vec<u8>, any_status: bool) -> Vec<(String, String)> {
    read_in_parts(archive, any_status, 1 << 16)
}

/// The same from an input of which each read returns at most `size` bytes.
fn read_in_parts(archive: Vec<u8>, any_status: bool, size: usize) -> Vec<(String, String)> {
    let input = BufReader::new(Parts { left: Cursor::new(archive), size });
    let records = Records::new(input, any_status, 1 << 20).unwrap();
    let said = |item: io::Result<Box<Response>>| {
        let response = match item {
            Ok(response) => response,
            Err(error) => return pair("broken", &error.to_string()),
        };
        let page = response.page(1 << 20);
        let text = page
            .map_or_else(|error| error.message().to_owned(), |body| String::from_utf8_lossy(&body.bytes).into_owned());
        let id = response.id.unwrap_or_default();
        (id.trim_end_matches('>').chars().last().map(String::from).unwrap_or_default(), text)
    };
    records.map(said).collect()
}

struct Parts {
    left: Cursor<Vec<u8>>,
    size: usize,
}

impl Read for Parts {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        Read::by_ref(&mut self.left).take(self.size as u64).read(into)
    }
}

fn pair(id: &str, text: &str) -> (String, String) {
    (id.to_owned(), text.to_owned())
}

#[test]
fn responses_that_are_pages_are_read() {
    let other = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n<svg>";
    let gone = PAGE.replace("200 OK", "404 Not Found");
    let records = [
        record("warcinfo", "0", "software: test"),
        record("response", "1", PAGE),
        record("request", "2", "GET / HTTP/1.1\r\n\r\n"),
        record("response", "3", other),
        record("response", "4", &gone),
        record("response", "5", "HTTP/1.1 200 OK\r\n\r\n <html>no type"),
        record("response", "6", "HTTP/2 200\r\ncontent-type:\r\n\r\n<p>empty type"),
        record("response", "7", "HTTP/2 200\r\ncontent-type:\r\n\r\n{}"),
    ];
    let expected = [pair("1", "<p>Tides"), pair("5", " <html>no type"), pair("6", "<p>empty type")];
    let members: Vec<Vec<u8>> = records.iter().map(|record| gzip(record)).collect();
    for archive in [records.concat(), gzip(&records.concat()), members.concat()] {
        assert_eq!(read(archive, false), expected);
    }
    assert_eq!(read(records.concat(), true)[1], pair("4", "<p>Tides"));
    assert!(read(vec![], false).is_empty() && read(b"\r\n\r\n".to_vec(), false).is_empty());
}

#[test]
fn the_data_of_a_broken_record_is_kept() {
    let whole = record("response", "1", PAGE);
    let no_http = record("response", "2", "garbage");
    let mut no_length = record("response", "3", PAGE);
    no_length = String::from_utf8(no_length).unwrap().replace("Content-Length", "Length").into_bytes();
    let last = record("response", "4", PAGE);
    let cut = &last[..last.len() - 6];
    let archive = [&whole[..], &no_http, b"not a record\n", &no_length, &whole, cut].concat();
    let told = read(archive, false);
    let ids: Vec<&str> = told.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "", "3", "1", "4", "broken"], "{told:#?}");
    for (place, message) in [
        (1, "this is not an HTTP response"),
        (2, "this is not the start of a WARC record"),
        (3, "the record has no Content-Length"),
        (5, "the input ends inside a record"),
        (6, "the input ends inside a record"),
    ] {
        assert!(told[place].1.contains(message), "{told:#?}");
    }
}

#[test]
fn a_damaged_member_does_not_hide_the_next() {
    let noise: String = (0..5000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_string()).collect();
    let mut damaged = gzip(&record("response", "2", &format!("{PAGE}{noise}")));
    let middle = damaged.len() / 2;
    damaged[middle..middle + 8].fill(0xFF);
    let archive = [gzip(&record("response", "1", PAGE)), damaged, gzip(&record("response", "3", PAGE))].concat();
    let told = read(archive, false);
    let first_and_last = (told.first().cloned(), told.last().cloned());
    assert_eq!(first_and_last, (Some(pair("1", "<p>Tides")), Some(pair("3", "<p>Tides"))), "{told:#?}");
    assert!(told.len() == 3 && told[1].0 == "2" && !told[1].1.starts_with('<'), "{told:#?}");
}

#[test]
fn a_truncated_archive_is_broken() {
    let [first, last] = ["1", "2"].map(|id| record("response", id, PAGE));
    let ids = |archive: &[u8]| -> Vec<String> { read(archive.to_vec(), false).into_iter().map(|(id, _)| id).collect() };
    // Plain. Two line ends follow the page, which is complete without them.
    let whole = [&first[..], &last].concat();
    for end in first.len() + 1..whole.len() - 4 {
        let told = ids(&whole[..end]);
        assert_eq!((&*told[0], &*told[2], told.len()), ("1", "broken", 3), "{end}: {told:?}");
    }
    for end in [first.len(), whole.len() - 4, whole.len() - 1, whole.len()] {
        assert!(!ids(&whole[..end]).contains(&"broken".to_owned()), "{end}");
    }
    // A member for each record, and one for all.
    let [first, last] = [gzip(&first), gzip(&last)];
    for (archive, from) in [([&first[..], &last].concat(), first.len() + 1), (gzip(&whole), 30)] {
        for end in from..archive.len() {
            assert_eq!(ids(&archive[..end]).last().unwrap(), "broken", "{end} of {}", archive.len());
        }
        assert_eq!(ids(&archive), ["1", "2"]);
    }
    // A truncated record in a whole member.
    assert_eq!(ids(&[&gzip(&whole[..200])[..], &last].concat()).last().unwrap(), "2");
    assert_eq!(ids(&gzip(&whole[..200])).last().unwrap(), "broken");
}

#[test]
fn damage_breaks_the_stream_only_where_records_are_lost() {
    let damaged = |records: &[u8]| {
        let mut archive = gzip(records);
        let middle = archive.len() / 2;
        archive[middle..middle + 8].fill(0xFF);
        archive
    };
    let noise: String = (0..5000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_string()).collect();
    let [first, long] = [record("response", "1", PAGE), record("response", "2", &format!("{PAGE}{noise}"))];
    let ids: Vec<String> = read([gzip(&first), damaged(&long)].concat(), false).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["1", "2"]);
    let told = read(damaged(&[&first[..], &long, &first].concat()), false);
    assert!(told[0].0 == "1" && told.last().unwrap().0 == "broken", "{told:#?}");
}

#[test]
fn records_are_found_at_the_ends_of_buffers() {
    let records = ["1", "2", "3"].map(|id| record("response", id, PAGE));
    let [first, second, third] = &records;
    let mut no_length = second.clone();
    let at = memchr::memmem::find(&no_length, b"Content-Length").unwrap();
    no_length[at] = b'X';
    let members: Vec<u8> = records.iter().flat_map(|record| gzip(record)).collect();
    let damaged = [&first[..], b"damage\n", &no_length, third].concat();
    for archive in [members, records.concat(), damaged.clone(), gzip(&damaged)] {
        let whole = read(archive.clone(), false);
        assert!(whole.first().is_some_and(|(id, _)| id == "1") && whole.last().is_some_and(|(id, _)| id == "3"));
        for size in 1..12 {
            assert_eq!(read_in_parts(archive.clone(), false, size), whole, "{size}");
        }
    }
}

#[test]
fn the_status_of_a_broken_record_is_what_is_known() {
    let whole = record("response", "1", &PAGE.replace("200 OK", "201 Created"));
    for (end, status) in [(whole.len() - 6, Some(201)), (40, None)] {
        let archive = Cursor::new(whole[..end].to_vec());
        let first = Records::new(archive, true, 1 << 20).unwrap().next().unwrap().unwrap();
        assert_eq!(first.status, status, "{end}");
        assert!(first.page(1 << 20).is_err(), "{end}");
    }
}

#[test]
fn any_bytes_are_read_to_the_end() {
    let archive = record("response", "1", PAGE);
    for at in 0..archive.len() {
        let mut changed = archive.clone();
        changed[at] ^= 0x15;
        read([&changed[..], &archive].concat(), false);
        read(gzip(&changed), true);
        let mut changed = gzip(&archive);
        if let Some(byte) = changed.get_mut(at) {
            *byte ^= 0x15;
            read([changed, gzip(&archive)].concat(), false);
        }
    }
}
