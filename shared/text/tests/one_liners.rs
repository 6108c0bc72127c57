//! Detection of the encoding of one-line texts: comments, sentences, table rows, file names.

use ragmaker_text::{Decode, Encoding, Prior, identify_bytes};

const TABLE: &str = include_str!("one_liners.tsv");

#[test]
fn short_texts_are_decoded_right() {
    let (mut total, mut wrong) = (0, vec![]);
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let (label, text) = line.split_once('\t').unwrap();
        let encoding = Encoding::named(label).unwrap();
        let expected = format!("{text}\r\n");
        let bytes = encoding.encode(&expected).unwrap_or_else(|c| panic!("{c:?} in {line}"));
        let found = identify_bytes(&bytes, &Prior::default()).unwrap().encoding;
        let (mut decoder, mut read) = (found.decoder(), String::new());
        decoder.decode(&bytes, true, &mut read);
        total += 1;
        if read != expected {
            wrong.push(format!("{line} -> {} {read:?}", found.name()));
        }
    }
    println!("{} of {total} right; wrong:\n{}", total - wrong.len(), wrong.join("\n"));
    assert!(wrong.len() * 20 <= total, "{} of {total} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
