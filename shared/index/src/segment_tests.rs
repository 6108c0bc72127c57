//! Tests of segments: written data is read back, and damage is detected.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;

use crate::{
    build::{Builder, IndexedTexts},
    error::IndexError,
    file::{ReplacedDocument, SegmentSource, Trailer},
    read::Reader,
    rows::{DocumentRow, IndexedDocument, Row},
    stamp::Stamp,
    tokens::Tokenizer,
};

const STAMP: Stamp = Stamp { size: 7, modified: 9 };

fn document(number: usize, parts: &[String]) -> DocumentRow {
    let row = |n: usize| Row {
        start: n * 100,
        end: n * 100 + 90,
        first_line: n * 5 + 1,
        last_line: n * 5 + 4,
        heading: format!("Top > Part {n}"),
        slug: if n.is_multiple_of(3) { format!("own-{n}") } else { format!("part-{n}") },
    };
    DocumentRow {
        path: format!("documents/{number}.md"),
        url: format!("https://x.example/{number}"),
        title: format!("Title {number}"),
        fetched_at: "2026-01-02T03:04:05Z".to_owned(),
        stamp: Stamp { size: number as u64, modified: u64::MAX - number as u64 * 1_000 },
        stale: number.is_multiple_of(2),
        listed: (number % 8) as u8,
        chunks: (0..parts.len()).map(row).collect(),
    }
}

fn whole(found: &IndexedDocument<'_>) -> DocumentRow {
    let IndexedDocument { path, url, title, fetched_at, stamp, stale, listed, chunks, .. } = *found;
    let [path, url, title, fetched_at] = [path, url, title, fetched_at].map(ToOwned::to_owned);
    let chunks = (0..chunks).map(|number| found.row(number).unwrap()).collect();
    DocumentRow { path, url, title, fetched_at, stamp, stale, listed, chunks }
}

fn built(documents: &[Vec<String>]) -> Vec<u8> {
    let mut builder = Builder::new();
    for (number, parts) in documents.iter().enumerate() {
        let document = document(number, parts);
        builder.document(&document, |row| {
            let part = document.chunks.iter().position(|other| other == row).unwrap();
            IndexedTexts { measured: [(&parts[part], 1), ("", 1)], title: ("", 2) }
        });
    }
    let replaced = vec![ReplacedDocument { document: 3, first_chunk: 4, chunks: 5 }];
    builder.finish(STAMP, 11, 10, &Trailer { title: "潮 Tides".to_owned(), outside: 300, replaced })
}

/// The chunks with each term, with their weights.
type Lists = BTreeMap<String, Vec<(usize, u32)>>;

fn lists(documents: &[Vec<String>]) -> Lists {
    let mut tokenizer = Tokenizer::new();
    let mut lists = Lists::new();
    for (chunk, part) in documents.iter().flatten().enumerate() {
        let mut counts = HashMap::new();
        tokenizer.terms(part, |term| *counts.entry(term).or_insert(0) += 1);
        for (term, weight) in counts {
            lists.entry(tokenizer.texts()[term as usize].to_string()).or_default().push((chunk, weight));
        }
    }
    lists
}

fn read(reader: &Reader, term: &str, is_prefix: bool) -> Result<Vec<(usize, u32)>, IndexError> {
    let mut list = vec![];
    reader.postings(term, is_prefix, |chunk, weight| list.push((chunk, weight)))?;
    Ok(list)
}

fn many() -> Vec<Vec<String>> {
    let part = |n: usize| format!("common {} number{n} 税{} の潮 {}", n % 7, n % 5, "again ".repeat(n % 4));
    (0..200).map(|n| (0..n % 4).map(|m| part(n * 4 + m)).collect()).collect()
}

#[test]
fn written_data_is_read_back() {
    let documents = many();
    let reader = Reader::open(SegmentSource::Memory(built(&documents))).unwrap();
    let chunks = documents.iter().map(Vec::len).sum();
    assert_eq!((reader.documents(), reader.chunks(), reader.header.on), (200, chunks, 10));
    let about = &reader.about;
    assert_eq!((about.title.as_str(), about.outside, about.replaced[0].chunks), ("潮 Tides", 300, 5));
    let mut first = 0;
    let mut seen = 0;
    reader
        .each(0..reader.blocks(), |number, first_chunk, found| {
            assert_eq!((whole(found), first_chunk), (document(number, &documents[number]), first));
            first += found.chunks;
            seen += 1;
        })
        .unwrap();
    assert_eq!(seen, 200);
    let mut chunk = 0;
    for (number, parts) in documents.iter().enumerate() {
        for nth in 0..parts.len() {
            assert_eq!(reader.chunk(chunk, |document, _, nth| Ok((document, nth))), Ok((number, nth)));
            chunk += 1;
        }
    }
    let lists = lists(&documents);
    for (term, list) in &lists {
        assert_eq!(&read(&reader, term, false).unwrap(), list, "{term}");
    }
    assert_eq!(read(&reader, "税", true).unwrap().len(), chunks);
    assert_eq!(read(&reader, "absent", true), Ok(vec![]));
}

#[test]
fn an_empty_segment_is_valid() {
    let reader = Reader::open(SegmentSource::Memory(built(&[]))).unwrap();
    assert_eq!((reader.chunks(), read(&reader, "a", false)), (0, Ok(vec![])));
    assert_eq!(reader.lengths(), Ok(vec![]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn postings_are_those_of_the_text(
        documents in prop::collection::vec(prop::collection::vec("[ab潮税の、 ]{0,12}", 0..4), 0..40)
    ) {
        let reader = Reader::open(SegmentSource::Memory(built(&documents))).unwrap();
        for (term, list) in lists(&documents) {
            prop_assert_eq!(read(&reader, &term, false).unwrap(), list);
        }
        // A single character is found wherever it stands.
        let mut chunks: Vec<usize> = read(&reader, "税", true).unwrap().into_iter().map(|(chunk, _)| chunk).collect();
        chunks.sort_unstable();
        chunks.dedup();
        let wanted: Vec<usize> =
            documents.iter().flatten().enumerate().filter(|(_, part)| part.contains('税')).map(|(n, _)| n).collect();
        prop_assert_eq!(chunks, wanted);
    }

    #[test]
    fn damage_is_detected(at in 0_usize..1 << 20, change in 1_u8.., cut: bool) {
        let documents = many();
        let mut bytes = built(&documents);
        let at = at % bytes.len();
        if cut { bytes.truncate(at) } else { bytes[at] ^= change }
        let all = || -> Result<(), IndexError> {
            let reader = Reader::open(SegmentSource::Memory(bytes))?;
            reader.lengths()?;
            reader.each(0..reader.blocks(), |number, _, found| {
                assert_eq!(whole(found), document(number, &documents[number]));
            })?;
            for (term, list) in lists(&documents) {
                assert_eq!(read(&reader, &term, false)?, list, "{term}");
            }
            Ok(())
        };
        prop_assert_eq!(all(), Err(IndexError::Damaged));
    }
}
