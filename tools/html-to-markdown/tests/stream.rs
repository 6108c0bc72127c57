//! Streams of pages through the executable.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

const PAGE: &str = "<html lang=en><title>Tides</title><nav><a href=/>Home</a></nav><main><h1>Tides</h1>\
    <p>The tide is the rise and fall of the sea, caused by the pull of the moon and the sun on the earth.</p>\
    <p>Most coasts see <a href=two>two high tides</a> a day, a little later every day, as the moon moves on.</p></main>";

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-html-to-markdown"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = command(arguments).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    thread::scope(|scope| {
        // An aborted stream is not read to its end.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    })
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    bytes.split_inclusive(|&byte| byte == b'\n').map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn records(arguments: &[&str], input: &[u8]) -> Vec<Value> {
    let output = run(arguments, input);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    lines(&output.stdout)
}

fn pages(number: usize) -> Vec<u8> {
    let line = |n: usize| json!({"id": n, "url": format!("https://x.example/{n}"), "html": PAGE.replace("two", &n.to_string())});
    (0..number).flat_map(|n| format!("{}\n", line(n)).into_bytes()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_line_in_is_a_line_out_in_order() {
    let input = pages(300);
    for arguments in [&["--jsonl"][..], &["--jsonl", "--jobs", "3"]] {
        let records = records(arguments, &input);
        let ids: Vec<u64> = records.iter().map(|record| record["id"].as_u64().unwrap()).collect();
        assert_eq!(ids, (0..300).collect::<Vec<_>>());
        assert!(records[7]["text"].as_str().unwrap().contains("[7 high tides](https://x.example/7)"), "{}", records[7]);
    }
    let (first, last) = input.split_at(input.len() / 2);
    assert_eq!(records(&["--jsonl"], &[gzip(first), gzip(last), vec![0; 512]].concat()).len(), 300);
    assert!(records(&["--jsonl"], b"").is_empty());
    assert!(records(&["--warc"], b"").is_empty());
}

#[test]
fn the_markdown_is_that_of_a_single_call() {
    for flags in [&[][..], &["--whole"], &["--selector", "p"]] {
        let single = run(&[flags, &["--base-url", "https://x.example/a/"]].concat(), PAGE.as_bytes());
        let single: Value = serde_json::from_slice(&single.stdout).unwrap();
        let line = json!({"id": 1, "url": "https://x.example/a/", "html": PAGE}).to_string();
        let record = &records(&[flags, &["--jsonl"]].concat(), line.as_bytes())[0];
        assert_eq!((&record["text"], &record["title"]), (&single["markdown"], &single["title"]));
        for name in ["words", "lang", "page_type", "confidence", "published", "author", "site_name", "charset"] {
            assert_eq!(record["metadata"][name], single[name], "{name}");
        }
    }
}

#[test]
fn each_line_is_answered_before_the_next_is_sent() {
    let mut child = command(&["--jsonl", "--jobs", "2"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for line in pages(3).split_inclusive(|&byte| byte == b'\n') {
        stdin.write_all(line).unwrap();
        let mut record = String::new();
        stdout.read_line(&mut record).unwrap();
        assert!(record.ends_with("}\n"), "{record}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_error_of_a_page_is_a_record() {
    let huge = format!("{{\"id\": \"huge\", \"html\": \"{}\"}}\n", "x".repeat(10 << 20));
    let bad = "\n{\"id\": \"cut\", \"html\": \"<p>\n{\"id\": \"none\"}\n{\"id\": \"binary\", \"html_base64\": \"f0VMRgA=\"}\n";
    let not_utf8 = b"{\"html\": \"caf\xE9\", \"id\": \"latin\"}\n";
    let input = [pages(2), huge.into_bytes(), bad.into(), not_utf8.to_vec(), pages(1)].concat();
    let records = records(&["--jsonl", "--jobs", "2", "--max-bytes", "1000000"], &input);
    let codes: Vec<&str> =
        records.iter().map(|record| record["error"]["error_code"].as_str().unwrap_or_default()).collect();
    let invalid = "INVALID_RECORD";
    assert_eq!(codes, ["", "", "INPUT_TOO_LARGE", invalid, invalid, invalid, "NOT_TEXT", invalid, ""]);
    let ids: Vec<&Value> = records[2..8].iter().map(|record| &record["id"]).collect();
    assert_eq!(ids, [&json!("huge"), &Value::Null, &json!("cut"), &json!("none"), &json!("binary"), &json!("latin")]);
}

#[test]
fn a_page_that_takes_too_long_is_a_record() {
    let records = records(&["--jsonl", "--timeout-ms", "0"], &pages(40));
    assert_eq!(records.len(), 40);
    // With a time limit of zero, it is random which pages fail. The order is not.
    for (n, record) in records.iter().enumerate() {
        assert_eq!(record["id"], n);
        assert!(record["text"].is_string() || record["error"]["error_code"] == "PAGE_TIMEOUT", "{record}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_was_replaced_ends_with_its_page() {
    let mut child = command(&["--jsonl", "--jobs", "2", "--timeout-ms", "0"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let writer = thread::spawn(move || stdin.write_all(&pages(300)).map(|()| stdin));
    let failed = (0..300).filter(|_| output.next().unwrap().unwrap().contains("PAGE_TIMEOUT")).count();
    assert!(failed > 0);
    let stdin = writer.join().unwrap().unwrap();
    // The main thread, the reader of the input, and a worker for each job.
    let status = format!("/proc/{}/status", child.id());
    let threads =
        || fs::read_to_string(&status).unwrap().lines().find_map(|line| line.strip_prefix("Threads:\t")?.parse().ok());
    let until = Instant::now() + Duration::from_mins(1);
    while threads() != Some(4) {
        assert!(Instant::now() < until, "{:?} threads after {failed} replacements", threads());
        thread::sleep(Duration::from_millis(20));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_stream_that_breaks_ends_the_process() {
    let broken = |arguments: &[&str], input: &[u8]| {
        let output = run(arguments, input);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        (lines(&output.stdout).len(), error["error_code"].as_str().unwrap().to_owned())
    };
    let mut cut = gzip(&pages(20));
    cut.truncate(cut.len() - 4);
    let (written, code) = broken(&["--jsonl"], &cut);
    assert!(written <= 20 && code == "INPUT_BROKEN", "{written} {code}");
    let input = [pages(2), b"{}\n".repeat(5), pages(2)].concat();
    assert_eq!(broken(&["--jsonl", "--max-failures", "3"], &input), (6, "TOO_MANY_FAILURES".to_owned()));
    assert_eq!(records(&["--jsonl", "--max-failures", "5"], &input).len(), 9);
}

#[test]
fn conflicting_flags_are_refused() {
    for arguments in [
        &["--jsonl", "--warc"][..],
        &["--jsonl", "--raw"],
        &["--jsonl", "--limit", "3"],
        &["--jsonl", "--any-status"],
        &["--jsonl", "--selector", "p["],
        &["--jsonl", "--jobs", "0"],
        &["--jsonl", "--jobs", "257"],
        &["--jsonl", "--jobs", "99999999999"],
        &["--jobs", "2"],
        &["--raw", "--text"],
        &["--text", "--width", "0"],
        &["--arguments", r#"{"jsonl": true}"#],
    ] {
        let output = run(arguments, PAGE.as_bytes());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(error["error_code"], "ARGUMENT_ERROR");
    }
}

#[test]
fn a_short_line_is_answered_before_the_next_is_sent() {
    let mut child = command(&["--jsonl", "--jobs", "256"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(b"\n").unwrap();
    let mut record = String::new();
    stdout.read_line(&mut record).unwrap();
    assert!(record.contains("INVALID_RECORD"), "{record}");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let mark = "\u{feff}".as_bytes();
    let input = [mark, &pages(2)].concat();
    for input in [input.clone(), gzip(&input)] {
        let ids: Vec<Value> = records(&["--jsonl"], &input).iter().map(|record| record["id"].clone()).collect();
        assert_eq!(ids, [0, 1]);
    }
    assert!(records(&["--jsonl"], mark).is_empty());
}

#[test]
fn a_truncated_archive_ends_with_an_error() {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{PAGE}");
    let length = block.len();
    let record = format!("WARC/1.0\r\nWARC-Type: response\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n");
    let record = record.as_bytes();
    for whole in [[gzip(record), gzip(record)].concat(), [record, record].concat()] {
        let output = run(&["--warc"], &whole[..whole.len() - 20]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(error["error_code"], "INPUT_BROKEN", "{error}");
        let converted = lines(&output.stdout);
        assert_eq!(converted.len(), 2, "{converted:?}");
        assert_eq!(converted[0]["title"], "Tides");
        assert_eq!(converted[1]["error"]["error_code"], "INVALID_RECORD");
    }
    // With the largest limit, a page is not too large.
    assert_eq!(records(&["--warc", "--max-bytes", &usize::MAX.to_string()], record)[0]["title"], "Tides");
}

#[test]
fn streams_are_not_offered_to_models() {
    let described = String::from_utf8(run(&["--describe"], b"").stdout).unwrap();
    assert!(described.contains("\"selector\"") && !described.contains("\"jsonl\""), "{described}");
    let help = String::from_utf8(run(&["--help"], b"").stdout).unwrap();
    assert!(help.contains("--jsonl") && help.contains("--warc"), "{help}");
}

#[test]
fn an_archive_is_converted() {
    let record = |id: &str, status: &str| {
        let block = format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\n\r\n{PAGE}");
        let head = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{id}>\r\n\
             WARC-Target-URI: https://x.example/{id}/\r\nContent-Length: {}\r\n\r\n",
            block.len()
        );
        format!("{head}{block}\r\n\r\n").into_bytes()
    };
    let archive = [gzip(&record("a", "200 OK")), gzip(&record("b", "500 No")), gzip(b"WARC/1.0\r\n\r\n")].concat();
    let converted = records(&["--warc"], &archive);
    assert_eq!(converted.len(), 2);
    assert_eq!((&converted[0]["id"], &converted[0]["title"]), (&json!("<urn:uuid:a>"), &json!("Tides")));
    assert!(converted[0]["text"].as_str().unwrap().contains("(https://x.example/a/two)"));
    assert_eq!(converted[0]["metadata"]["warc"]["http_status"], 200);
    assert_eq!(converted[1]["error"]["error_code"], "INVALID_RECORD");
    assert!(converted[1]["metadata"]["warc"]["http_status"].is_null(), "{}", converted[1]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("archive.warc.gz");
    std::fs::write(&file, &archive).unwrap();
    assert_eq!(records(&["--warc", "--any-status", "--path", file.to_str().unwrap()], b"").len(), 3);
}
