//! Ranking the chunks of several indexes for a query, and reading the text of the best chunks.

use std::{
    cmp::Ordering,
    collections::{HashMap, hash_map::Entry},
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Filter, Found, Hit,
    broken::Broken,
    query::{Phrase, Query},
    read::Reader,
    stamp::Stamp,
    store::{Index, Segment},
    tokens::{Term, Tokenizer},
};

/// BM25's saturation of repeated terms, and how much the length of a chunk counts. The usual B, 0.75, is for whole
/// documents; chunks by heading are of like length, and a long one says more. With 0.6 the nDCG@10 on Vaswani is
/// 0.443 (0.75: 0.435; 0.5: 0.445; 0.4: 0.440), on `JSQuAD` as good; 0.5 finds less in documentation.
const K1: f32 = 1.2;
const B: f32 = 0.6;
/// How many of the best hits coverage looks at.
const BEST: usize = 3;

/// A chunk that holds terms of the query.
#[derive(Clone, Copy)]
struct Candidate {
    score: f32,
    /// Which of the segments of all indexes.
    part: u32,
    chunk: u32,
    /// One bit for each term of the query.
    held: u64,
}

/// A segment with the index it is of.
struct Part<'a> {
    number: usize,
    index: &'a Index,
    segment: &'a Segment,
}

pub(crate) fn ranked(
    indexes: &[Index],
    query: &Query,
    tokenizer: &mut Tokenizer,
    filter: &Filter<'_>,
    most: usize,
) -> Result<Found, Broken> {
    let parts: Vec<Part<'_>> = indexes
        .iter()
        .enumerate()
        .flat_map(|(number, index)| index.segments.iter().map(move |segment| Part { number, index, segment }))
        .collect();
    let scores = scored(&parts, query, tokenizer)?;
    let mut texts = Texts::default();
    let mut best = Best::new(most.max(BEST));
    let narrows = filter.matches.is_some() || filter.since.is_some();
    let narrows = narrows || !query.phrases.is_empty() || !query.without.is_empty();
    for (number, scores) in scores.iter().enumerate() {
        let scores = scores.iter().enumerate().filter(|(_, (_, held))| *held != 0);
        let candidates = scores.map(|(chunk, (score, held))| Candidate {
            score: *score,
            part: number as u32,
            chunk: chunk as u32,
            held: *held,
        });
        if narrows {
            let mut own = candidates.collect();
            narrow(&mut own, &parts, query, tokenizer, filter, &mut texts)?;
            for one in own {
                best.add(one);
            }
        } else {
            candidates.for_each(|one| best.add(one));
        }
    }
    let total = best.total;
    let found = best.sorted();
    let held = found.iter().take(BEST).fold(0, |held, candidate| held | candidate.held);
    let coverage = held.count_ones() as f32 / query.terms.len() as f32;
    let hits = found.iter().take(most).map(|one| hit(one, &parts, &mut texts)).collect::<Result<Vec<_>, _>>()?;
    let documents = parts.iter().map(|part| part.segment.documents()).sum();
    Ok(Found { hits, total, coverage, documents })
}

/// For each part the score of every chunk, and which terms of the query it holds.
fn scored(parts: &[Part<'_>], query: &Query, tokenizer: &Tokenizer) -> Result<Vec<Vec<(f32, u64)>>, Broken> {
    let chunks: usize = parts.iter().map(|part| part.segment.chunks()).sum();
    let total: u64 = parts.iter().map(|part| part.segment.reader.header.total).sum();
    let average = total as f32 / parts.iter().map(|part| part.segment.reader.chunks()).sum::<usize>().max(1) as f32;
    let norm = |length: &u16| K1 * (1.0 - B + B * f32::from(*length) / average.max(1.0));
    let norms = |part: &Part<'_>| Ok(part.segment.reader.lengths()?.iter().map(norm).collect::<Vec<_>>());
    let norms = parts.iter().map(norms).collect::<Result<Vec<_>, Broken>>()?;
    let mut scores: Vec<_> = norms.iter().map(|norms| vec![(0.0_f32, 0_u64); norms.len()]).collect();
    // One term after another, in the same memory.
    let mut lists: Vec<_> = parts.iter().map(|_| Postings::default()).collect();
    for (bit, term) in query.terms.iter().enumerate() {
        for (list, part) in lists.iter_mut().zip(parts) {
            list.read(&part.segment.reader, *term, tokenizer)?;
        }
        let count = lists.iter().map(|list| list.chunks.len()).sum::<usize>().min(chunks);
        let idf = (1.0 + (chunks as f32 - count as f32 + 0.5) / (count as f32 + 0.5)).ln();
        for ((list, norms), scores) in lists.iter().zip(&norms).zip(&mut scores) {
            for (chunk, weight) in &list.chunks {
                let (chunk, weight) = (*chunk as usize, *weight as f32);
                let (score, held) = &mut scores[chunk];
                *score += idf * weight * (K1 + 1.0) / (weight + norms[chunk]);
                *held |= 1 << bit;
            }
        }
    }
    for (part, scores) in parts.iter().zip(&mut scores) {
        for dead in &part.segment.dead {
            let range = dead.first_chunk..dead.first_chunk + dead.chunks;
            scores.get_mut(range).ok_or(Broken::Damaged)?.fill((0.0, 0));
        }
    }
    Ok(scores)
}

/// The best of many candidates, which come in the order of parts and chunks.
struct Best {
    kept: Vec<Candidate>,
    most: usize,
    /// What is not above it is not among the best; what is as good came before.
    least: f32,
    /// How many there were.
    total: usize,
}

impl Best {
    fn new(most: usize) -> Self {
        Self { kept: vec![], most, least: f32::NEG_INFINITY, total: 0 }
    }

    fn add(&mut self, candidate: Candidate) {
        self.total += 1;
        if candidate.score <= self.least {
            return;
        }
        self.kept.push(candidate);
        if self.kept.len() >= self.most.saturating_mul(2).max(256) {
            self.kept.select_nth_unstable_by(self.most - 1, better);
            self.kept.truncate(self.most);
            self.least = self.kept[self.most - 1].score;
        }
    }

    fn sorted(mut self) -> Vec<Candidate> {
        self.kept.sort_unstable_by(better);
        self.kept.truncate(self.most);
        self.kept
    }
}

fn better(a: &Candidate, b: &Candidate) -> Ordering {
    b.score.total_cmp(&a.score).then((a.part, a.chunk).cmp(&(b.part, b.chunk)))
}

/// The chunks that hold a term, each once, with its weight.
#[derive(Default)]
struct Postings {
    chunks: Vec<(u32, u32)>,
    /// For each chunk its weight while several terms are added up, zero between.
    weights: Vec<u32>,
}

impl Postings {
    fn read(&mut self, reader: &Reader, (term, is_prefix): (Term, bool), tokenizer: &Tokenizer) -> Result<(), Broken> {
        let text = &tokenizer.texts()[term as usize];
        let Self { chunks, weights } = self;
        chunks.clear();
        if !is_prefix {
            return reader.postings(text, false, |chunk, weight| chunks.push((chunk as u32, weight)));
        }
        // Of several terms that one chunk holds, the weights add up.
        weights.resize(reader.chunks(), 0);
        reader.postings(text, true, |chunk, weight| {
            if weights[chunk] == 0 {
                chunks.push((chunk as u32, 0));
            }
            weights[chunk] += weight;
        })?;
        for (chunk, weight) in chunks {
            *weight = std::mem::take(&mut weights[*chunk as usize]);
        }
        Ok(())
    }
}

/// Leaves out what the query or the filter excludes.
fn narrow(
    own: &mut Vec<Candidate>,
    parts: &[Part<'_>],
    query: &Query,
    tokenizer: &mut Tokenizer,
    filter: &Filter<'_>,
    texts: &mut Texts,
) -> Result<(), Broken> {
    let Some(part) = own.first().map(|one| &parts[one.part as usize]) else { return Ok(()) };
    let reader = &part.segment.reader;
    if filter.matches.is_some() || filter.since.is_some() {
        keep(own, |one| passes(reader, one.chunk, filter))?;
    }
    for (phrases, is_wanted) in [(&query.phrases, true), (&query.without, false)] {
        for phrase in phrases {
            let holds = holding(reader, phrase, tokenizer)?;
            if let [_] = phrase.terms[..] {
                // A single term says it all.
                own.retain(|one| holds[one.chunk as usize] == is_wanted);
                continue;
            }
            keep(own, |one| {
                let stands = holds[one.chunk as usize] && stands(one, parts, phrase, tokenizer, texts)?;
                Ok(stands == is_wanted)
            })?;
        }
    }
    Ok(())
}

/// [`Vec::retain`] where what decides can fail.
fn keep(own: &mut Vec<Candidate>, mut is_kept: impl FnMut(&Candidate) -> Result<bool, Broken>) -> Result<(), Broken> {
    let mut kept = vec![];
    for one in own.iter() {
        if is_kept(one)? {
            kept.push(*one);
        }
    }
    *own = kept;
    Ok(())
}

/// Whether the text of a chunk has the words of the phrase in this order.
fn stands(
    one: &Candidate,
    parts: &[Part<'_>],
    phrase: &Phrase,
    tokenizer: &mut Tokenizer,
    texts: &mut Texts,
) -> Result<bool, Broken> {
    let text = texts.of_chunk(one, parts)?;
    let terms = tokenizer.sequence(&text);
    Ok(terms.windows(phrase.sequence.len()).any(|run| run == phrase.sequence))
}

/// For each chunk whether it holds all terms of a phrase.
fn holding(reader: &Reader, phrase: &Phrase, tokenizer: &Tokenizer) -> Result<Vec<bool>, Broken> {
    let mut counts = vec![0_usize; reader.chunks()];
    let mut once = phrase.terms.clone();
    once.sort_unstable();
    once.dedup();
    let mut list = Postings::default();
    for term in &once {
        list.read(reader, *term, tokenizer)?;
        for (chunk, _) in &list.chunks {
            counts[*chunk as usize] += 1;
        }
    }
    Ok(counts.into_iter().map(|count| count == once.len()).collect())
}

fn passes(reader: &Reader, chunk: u32, filter: &Filter<'_>) -> Result<bool, Broken> {
    reader.chunk(chunk as usize, |_, document, nth| {
        if filter.since.is_some_and(|since| document.fetched_at < since) {
            return Ok(false);
        }
        let Some(matches) = filter.matches else { return Ok(true) };
        Ok(matches(document.path) || matches(document.url) || matches(&document.row(nth)?.heading))
    })
}

/// Texts of documents that were read.
#[derive(Default)]
struct Texts {
    /// By part and number.
    texts: HashMap<(usize, usize), String>,
    /// Folders, and whether no link leads to them.
    folders: HashMap<PathBuf, bool>,
}

impl Texts {
    fn of_chunk(&mut self, one: &Candidate, parts: &[Part<'_>]) -> Result<String, Broken> {
        let Part { index, segment, .. } = &parts[one.part as usize];
        segment.reader.chunk(one.chunk as usize, |number, document, nth| {
            let text = match self.texts.entry((one.part as usize, number)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(vacant) => {
                    let path = index.root.join(document.path);
                    vacant.insert(read(&path, document.stamp, &mut self.folders)?)
                }
            };
            let row = document.row(nth)?;
            text.get(row.start..row.end).map(ToOwned::to_owned).ok_or(Broken::Damaged)
        })
    }
}

/// The text of the document `path`, which is as it was indexed: a changed one is an error.
fn read(path: &Path, indexed: Stamp, folders: &mut HashMap<PathBuf, bool>) -> Result<String, Broken> {
    // A link that was put in its place leads elsewhere. Following every part of every path takes as long as reading.
    let is_same =
        || fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file() && Stamp::of(&metadata) == indexed);
    let folder = path.parent().ok_or(Broken::Changed)?;
    let is_own =
        *folders.entry(folder.to_owned()).or_insert_with(|| fs::canonicalize(folder).is_ok_and(|real| real == folder));
    if !is_own || !is_same() {
        return Err(Broken::Changed);
    }
    let text = fs::read_to_string(path).map_err(|_| Broken::Changed)?;
    if is_same() { Ok(text) } else { Err(Broken::Changed) }
}

fn hit(one: &Candidate, parts: &[Part<'_>], texts: &mut Texts) -> Result<Hit, Broken> {
    let text = texts.of_chunk(one, parts)?;
    let Part { number, index, segment } = &parts[one.part as usize];
    segment.reader.chunk(one.chunk as usize, |_, document, nth| {
        let row = document.row(nth)?;
        Ok(Hit {
            citation: format!("{}#{}", document.path, row.slug),
            path: index.root.join(document.path),
            heading: row.heading,
            score: one.score,
            text,
            start_line: row.first_line as u32,
            end_line: row.last_line as u32,
            title: document.title.to_owned(),
            catalog: *number,
            knowledge_base: index.title.clone(),
            root: index.root.clone(),
            url: document.url.to_owned(),
            fetched_at: document.fetched_at.to_owned(),
            stale: document.stale,
        })
    })
}
