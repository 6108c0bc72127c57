//! Vector search: the parts of documents whose embeddings are similar to the query's, and the fusion with the
//! ranking by words.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use crate::{
    error::IndexError,
    texts::{IndexPart, Texts},
    top_candidates::{Candidate, TopCandidates},
    vectors::{Vectors, key},
};

/// Reciprocal rank fusion: a part that is at rank n of a list gets 1 / (K + n) for it (Cormack, Clarke and Büttcher,
/// 2009). With 10, a prototype with multilingual-e5-small raised nDCG@10 of `JSQuAD` from 0.921 to 0.932.
const K: f32 = 10.0;
/// The number of parts of each list that are merged.
pub(crate) const MERGED: usize = 100;
/// The longest embedded text in bytes: about 500 tokens, the limit of small models.
const MAX_TEXT: usize = 1_800;
/// The initial and the maximum number of texts in a request. It is adjusted so that a request takes about
/// [`REQUEST`].
const FIRST_BATCH: usize = 8;
const MAX_BATCH: usize = 64;
const REQUEST: Duration = Duration::from_secs(1);

/// The purpose of an embedding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddingKind {
    /// The query.
    Query,
    /// A part of a document.
    Document,
}

/// A vector for each text, in order; `None` for a text that the endpoint rejects.
pub type Embeddings = Vec<Option<Vec<f32>>>;

/// Computes the vectors of texts; the error is the reason of a failure.
pub type Embed<'a> = dyn Fn(EmbeddingKind, &[&str]) -> Result<Embeddings, String> + 'a;

/// An embeddings endpoint.
pub struct Embedder<'a> {
    /// The identity of comparable vectors: the endpoint, its model, and the form of the texts.
    pub name: &'a str,
    /// The time limit of a search for embedding parts without a vector.
    pub budget: Duration,
    /// Calls the endpoint.
    pub embed: &'a Embed<'a>,
}

/// How many parts were also ranked by vectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VectorCoverage {
    /// The number of parts with a vector.
    pub parts: usize,
    /// The number of all parts.
    pub of: usize,
    /// The reason why not all parts have one.
    pub failure: Option<String>,
}

/// The vectors of the indexes of a query.
pub(crate) struct VectorRanking<'a> {
    embedder: &'a Embedder<'a>,
    query: Vec<f32>,
    /// For each segment, the keys of its chunks; 0 for a replaced chunk.
    keys: Vec<Vec<u64>>,
    /// The vectors by knowledge base.
    vectors: HashMap<usize, Vectors>,
}

impl<'a> VectorRanking<'a> {
    /// Embeds `query`.
    pub(crate) fn of(
        embedder: &'a Embedder<'a>,
        query: &str,
        parts: &[IndexPart<'_>],
    ) -> Result<Result<Self, String>, IndexError> {
        let query = match (embedder.embed)(EmbeddingKind::Query, &[query]) {
            Ok(vectors) => vectors.into_iter().next().flatten().unwrap_or_default(),
            Err(error) => return Ok(Err(error)),
        };
        let mut keys = vec![];
        let mut vectors = HashMap::new();
        for part in parts {
            let reader = &part.segment.reader;
            let mut own = vec![0; reader.chunks()];
            reader.each(0..reader.blocks(), |number, first, document| {
                if !part.segment.is_replaced(number) {
                    for nth in 0..document.chunks {
                        own[first + nth] = key(document.path, document.stamp, nth);
                    }
                }
            })?;
            keys.push(own);
            vectors.entry(part.number).or_insert_with(|| {
                part.index.place.as_deref().map(|place| Vectors::open(place, embedder.name)).unwrap_or_default()
            });
        }
        Ok(Ok(Self { embedder, query, keys, vectors }))
    }

    /// Embeds parts without a vector, `first` before the others, within the time limit, and saves the vectors.
    pub(crate) fn complete(
        &mut self,
        parts: &[IndexPart<'_>],
        first: &[Candidate],
        texts: &mut Texts,
    ) -> Result<Option<String>, IndexError> {
        let until = Instant::now() + self.embedder.budget;
        let all = self.keys.iter().enumerate().flat_map(|(part, keys)| {
            let places = keys.iter().enumerate().filter(|(_, key)| **key != 0);
            places.map(move |(chunk, _)| Candidate::at(part as u32, chunk as u32))
        });
        // The best candidates of the query occur a second time among all.
        let mut seen = HashSet::new();
        let missing: Vec<Candidate> = first
            .iter()
            .copied()
            .chain(all)
            .filter(|one| {
                let has = self.vectors[&parts[one.part as usize].number].has(self.key(one));
                !has && seen.insert((one.part, one.chunk))
            })
            .collect();
        let ended = self.embed(&missing, parts, texts, until);
        for (number, vectors) in std::mem::take(&mut self.vectors) {
            let own = parts.iter().zip(&self.keys).filter(|(part, _)| part.number == number);
            let (mut live, mut place) = (vec![], None);
            for (part, keys) in own {
                live.extend(keys.iter().filter(|key| **key != 0));
                place = part.index.place.as_deref();
            }
            // If the folder cannot be written, the vectors are lost.
            let vectors = match place {
                Some(place) => vectors.save(place, self.embedder.name, &live),
                None => vectors,
            };
            self.vectors.insert(number, vectors);
        }
        ended
    }

    fn key(&self, one: &Candidate) -> u64 {
        self.keys[one.part as usize][one.chunk as usize]
    }

    fn embed(
        &mut self,
        missing: &[Candidate],
        parts: &[IndexPart<'_>],
        texts: &mut Texts,
        until: Instant,
    ) -> Result<Option<String>, IndexError> {
        let (mut rest, mut size) = (missing.iter(), FIRST_BATCH);
        loop {
            let mut batch: Vec<(usize, u64, String)> = vec![];
            for one in rest.by_ref() {
                let (key, number) = (self.key(one), parts[one.part as usize].number);
                let vectors = self.vectors.get_mut(&number).ok_or(IndexError::Damaged)?;
                let text = shortened(texts.with_headings(one, parts)?);
                if !vectors.reuse(key, &text) {
                    batch.push((number, key, text));
                }
                if batch.len() == size {
                    break;
                }
            }
            if batch.is_empty() || Instant::now() >= until {
                return Ok(None);
            }
            let asked: Vec<&str> = batch.iter().map(|(.., text)| text.as_str()).collect();
            let started = Instant::now();
            let vectors = match (self.embedder.embed)(EmbeddingKind::Document, &asked) {
                Ok(vectors) => vectors,
                Err(error) => return Ok(Some(error)),
            };
            size = if started.elapsed() > REQUEST { size.div_ceil(2) } else { (size * 2).min(MAX_BATCH) };
            for ((number, key, text), vector) in batch.iter().zip(vectors) {
                if let Some(own) = self.vectors.get_mut(number) {
                    own.add(*key, text, vector.as_deref());
                }
            }
        }
    }

    /// The parts of a segment that have a vector, with their similarity to the query.
    pub(crate) fn candidates(&self, parts: &[IndexPart<'_>], part: usize) -> Vec<Candidate> {
        let Some(vectors) = self.vectors.get(&parts[part].number) else { return vec![] };
        let Some(wanted) = vectors.wanted(&self.query) else { return vec![] };
        let near = |(chunk, key): (usize, &u64)| {
            Some(Candidate { score: vectors.nearness(*key, &wanted)?, ..Candidate::at(part as u32, chunk as u32) })
        };
        self.keys[part].iter().enumerate().filter(|(_, key)| **key != 0).filter_map(near).collect()
    }

    /// The number of parts with a vector.
    pub(crate) fn extent(&self, parts: &[IndexPart<'_>], failure: Option<String>) -> VectorCoverage {
        let mut extent = VectorCoverage { failure, ..VectorCoverage::default() };
        for (part, keys) in parts.iter().zip(&self.keys) {
            for key in keys.iter().filter(|key| **key != 0) {
                extent.of += 1;
                extent.parts += usize::from(self.vectors.get(&part.number).is_some_and(|vectors| vectors.has(*key)));
            }
        }
        extent
    }
}

/// Merges both lists by reciprocal rank fusion. The scores are multiplied by 100.
pub(crate) fn merged(lists: [Vec<Candidate>; 2], most: usize) -> Vec<Candidate> {
    let mut all: HashMap<(u32, u32), Candidate> = HashMap::new();
    for list in lists {
        for (rank, one) in list.into_iter().enumerate() {
            let merged = all.entry((one.part, one.chunk)).or_insert(Candidate { score: 0.0, ..one });
            merged.score += 100.0 / (K + rank as f32 + 1.0);
            merged.held |= one.held;
        }
    }
    let mut all: Vec<Candidate> = all.into_values().collect();
    all.sort_unstable_by_key(|one| (one.part, one.chunk));
    let mut best = TopCandidates::new(most);
    best.extend(all);
    best.sorted()
}

/// The part of a text that is embedded.
fn shortened(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_TEXT));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_high_in_both_lists_is_first() {
        let list = |chunks: &[u32]| chunks.iter().map(|chunk| Candidate::at(0, *chunk)).collect();
        let merged = merged([list(&[1, 2, 3]), list(&[2, 4])], 3);
        assert_eq!(merged.iter().map(|one| one.chunk).collect::<Vec<_>>(), [2, 1, 4]);
        let expected = 100.0 / (K + 2.0) + 100.0 / (K + 1.0);
        assert!((merged[0].score - expected).abs() < 1e-4, "{}", merged[0].score);
    }

    #[test]
    fn an_embedded_text_ends_at_a_character() {
        let text = shortened("潮".repeat(MAX_TEXT));
        assert!(text.len() <= MAX_TEXT && text.len() > MAX_TEXT - 3 && text.ends_with('潮'));
    }
}
