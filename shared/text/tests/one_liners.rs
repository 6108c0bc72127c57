//! Detection of the encoding of one-line texts: comments, sentences, table rows, file names.

use ragmaker_text::{Decode, Encoding, Prior, identify_bytes};

const TABLE: &str = include_str!("one_liners.tsv");

/// The lines that are decoded wrong, and the number of all, where `prior` gives the prior for an encoding.
fn wrong(prior: impl Fn(Encoding) -> Prior) -> (usize, Vec<String>) {
    let (mut total, mut wrong) = (0, vec![]);
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let (label, text) = line.split_once('\t').unwrap();
        let encoding = Encoding::named(label).unwrap();
        let expected = format!("{text}\r\n");
        let bytes = encoding.encode(&expected).unwrap_or_else(|c| panic!("{c:?} in {line}"));
        let found = identify_bytes(&bytes, &prior(encoding)).unwrap().encoding;
        let (mut decoder, mut read) = (found.decoder(), String::new());
        decoder.decode(&bytes, true, &mut read);
        total += 1;
        if read != expected {
            wrong.push(format!("{line} -> {} {read:?}", found.name()));
        }
    }
    println!("{} of {total} right; wrong:\n{}", total - wrong.len(), wrong.join("\n"));
    (total, wrong)
}

#[test]
fn short_texts_are_decoded_right() {
    let (total, wrong) = wrong(|_| Prior::default());
    assert!(wrong.len() * 20 <= total, "{} of {total} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The lines of the table in `encoding`, as the files of a folder.
fn others(encoding: Encoding) -> Vec<Vec<u8>> {
    let own = TABLE.lines().filter_map(|line| line.split_once('\t'));
    let own = own.filter(|(label, _)| Encoding::named(label) == Some(encoding));
    own.take(8).map(|(_, text)| encoding.encode(text).unwrap()).collect()
}

#[test]
fn short_texts_beside_others_of_their_encoding_are_decoded_right() {
    let (total, wrong) = wrong(|encoding| Prior::default().with_texts(&others(encoding)));
    assert!(wrong.len() * 100 <= total, "{} of {total} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn short_texts_beside_others_of_another_encoding_are_decoded_right() {
    for other in ["windows-1252", "Shift_JIS", "windows-1251", "GBK"] {
        let prior = Prior::default().with_texts(&others(Encoding::named(other).unwrap()));
        let (total, wrong) = wrong(|_| prior.clone());
        assert!(wrong.len() * 10 <= total, "{other}: {} of {total} wrong:\n{}", wrong.len(), wrong.join("\n"));
    }
}
