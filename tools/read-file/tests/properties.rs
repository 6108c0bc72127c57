//! Properties of any file: paging by `next` returns exactly its text.

use std::fs;

use proptest::prelude::*;
use ragmaker_tool::{HostOptions, Tool, arguments};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// Reads `path` page by page, the first with the arguments `first`, and joins the contents.
fn paged(path: &str, first: Value) -> String {
    let Value::Object(mut given) = first else { panic!("an object") };
    given.insert("path".into(), path.into());
    let root = std::path::Path::new(path).parent().unwrap();
    let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
    let mut text = String::new();
    loop {
        let members = given.clone().into_iter().collect();
        let (args, invocation) = arguments::from_json::<ragmaker_read_file::Args>(members, &host).unwrap();
        let page = serde_json::to_value(args.run(&invocation).unwrap()).unwrap();
        text += page["content"].as_str().unwrap();
        let next: Map<String, Value> = match page["next"].clone() {
            Value::Object(next) => next,
            _ => return text,
        };
        given.extend(next);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn pages_join_to_the_text(
        lines in prop::collection::vec("[a\"\\\\\u{1}\r日😀 ]{0,40}", 0..60),
        repeat in 1_usize..16, limit in 7_u64..200, join in prop::sample::select(vec!["\n", "\r\n", ""]),
    ) {
        let text = lines.join(join).repeat(repeat) + "A plain line keeps it text. ";
        let units = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        for bytes in [
            [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
            [b"\xFF\xFE".to_vec(), units(u16::to_le_bytes)].concat(),
            [b"\xFE\xFF".to_vec(), units(u16::to_be_bytes)].concat(),
        ] {
            every_way(&text, &bytes, None, limit)?;
        }
        // What these encodings have; and in the last one a mark that goes from line to line.
        let text = text.replace('😀', "語");
        for (encoding, text) in [
            (encoding_rs::SHIFT_JIS, text.clone()),
            (encoding_rs::EUC_JP, text.clone()),
            (encoding_rs::GB18030, text.clone()),
            (encoding_rs::BIG5, text.clone()),
            (encoding_rs::ISO_2022_JP, text.replace('\\', "¥")),
        ] {
            every_way(&text, &encoding.encode(&text).0, Some(encoding.name()), limit)?;
        }
    }
}

/// Reads `bytes`, which say `text`, by each kind of page.
fn every_way(text: &str, bytes: &[u8], encoding: Option<&str>, limit: u64) -> Result<(), TestCaseError> {
    let temp = TempDir::new().unwrap();
    let path = temp.path().canonicalize().unwrap().join("file");
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    let total = text.split_inclusive('\n').count();
    for mut first in [
        json!({}),
        json!({"limit": limit}),
        json!({"end_line": total + 1, "limit": limit}),
        json!({"tail": total}),
        json!({"tail": total + 1, "limit": limit}),
    ] {
        first["encoding"] = encoding.into();
        prop_assert!(paged(path, first.clone()) == text, "{} {:?}", first, text);
    }
    Ok(())
}
