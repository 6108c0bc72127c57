//! The vectors of an index: one for each embedded part of a document, in one file beside the segments.
//!
//! ```text
//! magic | whose they are | dimensions | count | keys | hashes of texts | scales | bytes | checksum
//! ```
//!
//! A key is computed from a document's path, size and time and the index of the part, so vectors are found
//! without reading documents. The hash of the text finds the vector of a document that was only touched. Each
//! number of a vector is stored in one byte, a quarter of the transferred size; on `JSQuAD` the ranking is the
//! same.

use std::{collections::HashMap, fs, hash::BuildHasherDefault, io::Write, path::Path};

use ragmaker_fs::{Replace, write_atomically};
use rustc_hash::FxHasher;

use crate::{
    file::{append_checksum, number, take_checked},
    stamp::Stamp,
    store::{VECTORS, hash},
};

/// Changes with the format, and with the embedded text of a part.
const MAGIC: u64 = u64::from_le_bytes(*b"RMVECT01");
/// The number of bytes before the keys.
const HEADER: usize = 4 * 8;
/// The maximum number of dimensions of a vector.
pub(crate) const MAX_DIMENSIONS: usize = 1 << 14;

type Map = HashMap<u64, usize, BuildHasherDefault<FxHasher>>;

/// Normalized vectors of one endpoint and model.
#[derive(Default)]
pub(crate) struct Vectors {
    dimensions: usize,
    keys: Vec<u64>,
    texts: Vec<u64>,
    scales: Vec<f32>,
    bytes: Vec<u8>,
    by_key: Map,
    by_text: Map,
    /// Whether there are vectors that the file does not have.
    is_new: bool,
}

/// The vector of a query.
pub(crate) struct QueryVector {
    numbers: Vec<i16>,
    scale: f32,
}

/// The key of a part of a document.
pub(crate) fn key(path: &str, stamp: Stamp, part: usize) -> u64 {
    let numbers = [stamp.size, stamp.modified, part as u64].map(u64::to_le_bytes);
    hash(path.bytes().chain(numbers.into_iter().flatten()))
}

impl Vectors {
    /// Opens the vectors of `owner` in the folder `place`.
    pub(crate) fn open(place: &Path, owner: &str) -> Self {
        let read = || {
            let bytes = take_checked(fs::read(place.join(VECTORS)).ok()?).ok()?;
            let value = |at: usize| bytes.get(at * 8..at * 8 + 8).map(number);
            let (dimensions, count) = (value(2)? as usize, value(3)? as usize);
            if value(0)? != MAGIC || value(1)? != hash(owner.bytes()) || dimensions > MAX_DIMENSIONS {
                return None;
            }
            let mut rest = bytes.get(HEADER..)?;
            let mut take = |width: usize| {
                let (part, after) = rest.split_at_checked(count.checked_mul(width)?)?;
                rest = after;
                Some(part)
            };
            let numbers = |part: &[u8]| part.chunks_exact(8).map(number).collect::<Vec<_>>();
            let (keys, texts) = (numbers(take(8)?), numbers(take(8)?));
            let scales = take(4)?.as_chunks().0.iter().map(|scale| f32::from_le_bytes(*scale)).collect();
            let bytes = take(dimensions)?.to_vec();
            let map = |of: &[u64]| of.iter().enumerate().map(|(row, key)| (*key, row)).collect();
            let (by_key, by_text) = (map(&keys), map(&texts));
            Some(Self { dimensions, keys, texts, scales, bytes, by_key, by_text, is_new: false })
        };
        read().unwrap_or_default()
    }

    /// Adds the vectors that another process wrote meanwhile, and writes those with a key in `live`. If the
    /// file cannot be written, they are computed again later.
    pub(crate) fn save(mut self, place: &Path, owner: &str, live: &[u64]) -> Self {
        if !self.is_new {
            return self;
        }
        let other = Self::open(place, owner);
        if other.dimensions == self.dimensions {
            for (key, row) in &other.by_key {
                if !self.by_key.contains_key(key) {
                    self.push(*key, other.texts[*row], other.scales[*row], other.row(*row));
                }
            }
        }
        let rows: Vec<usize> = live.iter().filter_map(|key| self.by_key.get(key).copied()).collect();
        let header = [MAGIC, hash(owner.bytes()), self.dimensions as u64, rows.len() as u64];
        let mut bytes: Vec<u8> = header.into_iter().flat_map(u64::to_le_bytes).collect();
        for column in [&self.keys, &self.texts] {
            bytes.extend(rows.iter().flat_map(|row| column[*row].to_le_bytes()));
        }
        bytes.extend(rows.iter().flat_map(|row| self.scales[*row].to_le_bytes()));
        for row in rows {
            bytes.extend_from_slice(self.row(row));
        }
        append_checksum(&mut bytes, 0);
        let replace = Replace { replace_link: true, sync_directory: false, mode: 0o600, ..Replace::default() };
        let written = write_atomically(&place.join(VECTORS), replace, |file| file.write_all(&bytes));
        self.is_new = written.is_err();
        self
    }

    fn row(&self, row: usize) -> &[u8] {
        &self.bytes[row * self.dimensions..(row + 1) * self.dimensions]
    }

    fn push(&mut self, key: u64, text: u64, scale: f32, row: &[u8]) {
        self.by_key.insert(key, self.keys.len());
        self.by_text.insert(text, self.keys.len());
        self.keys.push(key);
        self.texts.push(text);
        self.scales.push(scale);
        self.bytes.extend_from_slice(row);
        self.is_new = true;
    }

    pub(crate) fn has(&self, key: u64) -> bool {
        self.by_key.contains_key(&key)
    }

    /// Gives `key` the vector of an equal text; returns false if there is none.
    pub(crate) fn reuse(&mut self, key: u64, text: &str) -> bool {
        let text = hash(text.bytes());
        let Some(row) = self.by_text.get(&text).copied() else { return false };
        let (scale, bytes) = (self.scales[row], self.row(row).to_vec());
        self.push(key, text, scale, &bytes);
        true
    }

    /// Adds the vector of `text`; without one, `text` is similar to nothing. A vector with other dimensions
    /// belongs to another model, so all existing vectors are dropped.
    pub(crate) fn add(&mut self, key: u64, text: &str, vector: Option<&[f32]>) {
        if let Some(vector) = vector
            && vector.len() != self.dimensions
        {
            *self = Self { dimensions: vector.len(), ..Self::default() };
        }
        let (numbers, scale) = vector.map_or_else(|| (vec![0; self.dimensions], 0.0), quantized);
        let bytes: Vec<u8> = numbers.into_iter().map(|number| (number as i8).cast_unsigned()).collect();
        self.push(key, hash(text.bytes()), scale, &bytes);
    }

    /// The query's vector, if it has the same dimensions.
    pub(crate) fn wanted(&self, vector: &[f32]) -> Option<QueryVector> {
        let (numbers, scale) = quantized(vector);
        (vector.len() == self.dimensions).then_some(QueryVector { numbers, scale })
    }

    /// The cosine similarity of the query and a part, from -1 to 1; `None` for a part without a vector.
    pub(crate) fn nearness(&self, key: u64, wanted: &QueryVector) -> Option<f32> {
        let row = *self.by_key.get(&key)?;
        let scale = self.scales[row];
        let product = |(a, b): (&i16, &u8)| i32::from(*a) * i32::from(i16::from(b.cast_signed()));
        let sum: i32 = wanted.numbers.iter().zip(self.row(row)).map(product).sum();
        (scale > 0.0).then_some(sum as f32 * scale * wanted.scale)
    }
}

/// A normalized vector as integers up to 127, with their scale.
fn quantized(vector: &[f32]) -> (Vec<i16>, f32) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    let most = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
    if !(length.is_finite() && most > 0.0) {
        return (vec![0; vector.len()], 0.0);
    }
    let numbers = vector.iter().map(|number| (number / most * 127.0).round() as i16).collect();
    (numbers, most / length / 127.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STAMP: Stamp = Stamp { size: 3, modified: 5 };

    #[test]
    fn vectors_are_kept_by_document_and_by_text() {
        let folder = tempfile::tempdir().unwrap();
        let mut vectors = Vectors::open(folder.path(), "a model");
        let (first, second) = (key("a.md", STAMP, 0), key("a.md", STAMP, 1));
        vectors.add(first, "one", Some(&[3.0, 4.0]));
        vectors.add(second, "two", None);
        vectors.save(folder.path(), "a model", &[first, second]);

        let mut vectors = Vectors::open(folder.path(), "a model");
        let wanted = vectors.wanted(&[6.0, 8.0]).unwrap();
        assert!((vectors.nearness(first, &wanted).unwrap() - 1.0).abs() < 0.01);
        assert!(vectors.has(second) && vectors.nearness(second, &wanted).is_none());
        assert!(vectors.wanted(&[1.0]).is_none());
        // A document that was touched, with the same text.
        let touched = key("a.md", Stamp { modified: 6, ..STAMP }, 0);
        assert!(!vectors.has(touched) && vectors.reuse(touched, "one") && !vectors.reuse(touched, "three"));
        vectors.save(folder.path(), "a model", &[touched]);
        let vectors = Vectors::open(folder.path(), "a model");
        assert!(vectors.has(touched) && !vectors.has(first));
        // Those of another model, and of one that changed under its name, are none of it.
        assert!(!Vectors::open(folder.path(), "another").has(touched));
        let mut vectors = vectors;
        vectors.add(first, "one", Some(&[1.0, 2.0, 3.0]));
        assert!(vectors.has(first) && !vectors.has(touched));
    }

    #[test]
    fn damaged_vectors_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let mut vectors = Vectors::default();
        let key = key("a.md", STAMP, 0);
        vectors.add(key, "one", Some(&[3.0, 4.0]));
        vectors.save(folder.path(), "m", &[key]);
        let file = folder.path().join(VECTORS);
        let whole = fs::read(&file).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&file, damaged).unwrap();
            assert!(!Vectors::open(folder.path(), "m").has(key), "{at}");
            fs::write(&file, &whole[..at]).unwrap();
            assert!(!Vectors::open(folder.path(), "m").has(key), "{at}");
        }
    }

    proptest! {
        #[test]
        fn nearness_is_the_cosine(a in prop::collection::vec(-9.0_f32..9.0, 8), b in prop::collection::vec(-9.0_f32..9.0, 8)) {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            prop_assume!(dot(&a, &a) > 1.0 && dot(&b, &b) > 1.0);
            let mut vectors = Vectors::default();
            vectors.add(1, "one", Some(&a));
            let near = vectors.nearness(1, &vectors.wanted(&b).unwrap()).unwrap();
            let cosine = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
            prop_assert!((near - cosine).abs() < 0.03, "{near} {cosine}");
        }
    }
}
