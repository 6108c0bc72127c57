//! Ranking the chunks of several indexes for a query, and reading the text of the best chunks.

use std::{collections::HashMap, fs, path::Path};

use crate::{
    Filter, Found, Hit,
    broken::Broken,
    query::{Phrase, Query},
    read::Reader,
    store::{self, Index, Segment},
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

/// Texts of documents, by part and number.
type Texts = HashMap<(usize, usize), String>;

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
    let chunks: usize = parts.iter().map(|part| part.segment.chunks()).sum();
    let total: u64 = parts.iter().map(|part| part.segment.reader.header.total).sum();
    let average = total as f32 / parts.iter().map(|part| part.segment.reader.chunks()).sum::<usize>().max(1) as f32;
    // For each term of each part, the chunks with their weights.
    let mut lists = vec![];
    for term in &query.terms {
        let lists_of_parts = parts.iter().map(|part| postings(&part.segment.reader, *term, tokenizer));
        lists.push(lists_of_parts.collect::<Result<Vec<_>, _>>()?);
    }
    let idf = |list: &Vec<Vec<(u32, u32)>>| {
        let count = list.iter().map(Vec::len).sum::<usize>().min(chunks);
        (1.0 + (chunks as f32 - count as f32 + 0.5) / (count as f32 + 0.5)).ln()
    };
    let idf: Vec<f32> = lists.iter().map(idf).collect();
    let (mut found, mut texts) = (vec![], Texts::new());
    for (number, part) in parts.iter().enumerate() {
        let reader = &part.segment.reader;
        let norm = |length: &u16| K1 * (1.0 - B + B * f32::from(*length) / average.max(1.0));
        let norms: Vec<f32> = reader.lengths()?.iter().map(norm).collect();
        let mut scores = vec![(0.0_f32, 0_u64); norms.len()];
        for (bit, list) in lists.iter().enumerate() {
            for (chunk, weight) in &list[number] {
                let (chunk, weight) = (*chunk as usize, *weight as f32);
                let (score, held) = &mut scores[chunk];
                *score += idf[bit] * weight * (K1 + 1.0) / (weight + norms[chunk]);
                *held |= 1 << bit;
            }
        }
        for dead in &part.segment.dead {
            let range = dead.first_chunk..dead.first_chunk + dead.chunks;
            scores.get_mut(range).ok_or(Broken::Damaged)?.fill((0.0, 0));
        }
        let scores = scores.iter().enumerate().filter(|(_, (_, held))| *held != 0);
        let candidate = |(chunk, (score, held)): (usize, &(f32, u64))| Candidate {
            score: *score,
            part: number as u32,
            chunk: chunk as u32,
            held: *held,
        };
        let mut own: Vec<Candidate> = scores.map(candidate).collect();
        narrow(&mut own, &parts, query, tokenizer, filter, &mut texts)?;
        found.append(&mut own);
    }
    let total = found.len();
    let order =
        |a: &Candidate, b: &Candidate| b.score.total_cmp(&a.score).then((a.part, a.chunk).cmp(&(b.part, b.chunk)));
    let kept = most.max(BEST).min(total);
    if kept > 0 && kept < total {
        found.select_nth_unstable_by(kept - 1, order);
        found.truncate(kept);
    }
    found.sort_unstable_by(order);
    let held = found.iter().take(BEST).fold(0, |held, candidate| held | candidate.held);
    let coverage = held.count_ones() as f32 / query.terms.len() as f32;
    let hits = found.iter().take(most).map(|one| hit(one, &parts, &mut texts)).collect::<Result<Vec<_>, _>>()?;
    let documents = parts.iter().map(|part| part.segment.documents()).sum();
    Ok(Found { hits, total, coverage, documents })
}

/// The chunks that hold a term, each once, with its weight.
fn postings(
    reader: &Reader,
    (term, is_prefix): (Term, bool),
    tokenizer: &Tokenizer,
) -> Result<Vec<(u32, u32)>, Broken> {
    let text = &tokenizer.texts()[term as usize];
    let mut list: Vec<(u32, u32)> = vec![];
    if !is_prefix {
        reader.postings(text, false, |chunk, weight| list.push((chunk as u32, weight)))?;
        return Ok(list);
    }
    // Of several terms that one chunk holds, the weights add up.
    let mut weights = vec![0; reader.chunks()];
    reader.postings(text, true, |chunk, weight| {
        if weights[chunk] == 0 {
            list.push((chunk as u32, 0));
        }
        weights[chunk] += weight;
    })?;
    for (chunk, weight) in &mut list {
        *weight = weights[*chunk as usize];
    }
    Ok(list)
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
    let text = text_of_chunk(one, parts, texts)?;
    let terms = tokenizer.sequence(&text);
    Ok(terms.windows(phrase.sequence.len()).any(|run| run == phrase.sequence))
}

/// For each chunk whether it holds all terms of a phrase.
fn holding(reader: &Reader, phrase: &Phrase, tokenizer: &Tokenizer) -> Result<Vec<bool>, Broken> {
    let mut counts = vec![0_usize; reader.chunks()];
    let mut once = phrase.terms.clone();
    once.sort_unstable();
    once.dedup();
    for term in &once {
        for (chunk, _) in postings(reader, *term, tokenizer)? {
            counts[chunk as usize] += 1;
        }
    }
    Ok(counts.into_iter().map(|count| count == once.len()).collect())
}

fn passes(reader: &Reader, chunk: u32, filter: &Filter<'_>) -> Result<bool, Broken> {
    reader.chunk(chunk as usize, |_, document, nth| {
        let places = [&document.path, &document.chunks[nth].heading, &document.url];
        filter.since.is_none_or(|since| document.fetched_at.as_str() >= since)
            && filter.matches.is_none_or(|matches| places.into_iter().any(|place| matches(place)))
    })
}

/// Reads the text of a document, which is as it was indexed: a changed one is an error.
fn read(root: &Path, document: &crate::rows::Document) -> Result<String, Broken> {
    let path = root.join(&document.path);
    // A link that was put in its place leads elsewhere.
    let is_own = fs::canonicalize(&path).is_ok_and(|real| real == path);
    let (stamp, text) = store::read(&path).filter(|_| is_own).ok_or(Broken::Changed)?;
    if stamp != document.stamp || store::stamp(&path) != document.stamp {
        return Err(Broken::Changed);
    }
    Ok(text)
}

fn text_of_chunk(one: &Candidate, parts: &[Part<'_>], texts: &mut Texts) -> Result<String, Broken> {
    let Part { index, segment, .. } = &parts[one.part as usize];
    segment.reader.chunk(one.chunk as usize, |number, document, nth| {
        let key = (one.part as usize, number);
        if let std::collections::hash_map::Entry::Vacant(vacant) = texts.entry(key) {
            vacant.insert(read(&index.root, document)?);
        }
        let row = &document.chunks[nth];
        texts[&key].get(row.start..row.end).map(ToOwned::to_owned).ok_or(Broken::Damaged)
    })?
}

fn hit(one: &Candidate, parts: &[Part<'_>], texts: &mut Texts) -> Result<Hit, Broken> {
    let text = text_of_chunk(one, parts, texts)?;
    let Part { number, index, segment } = &parts[one.part as usize];
    segment.reader.chunk(one.chunk as usize, |_, document, nth| {
        let row = &document.chunks[nth];
        Hit {
            citation: format!("{}#{}", document.path, row.slug),
            path: index.root.join(&document.path),
            heading: row.heading.clone(),
            score: one.score,
            text,
            start_line: row.first_line as u32,
            end_line: row.last_line as u32,
            title: document.title.clone(),
            catalog: *number,
            knowledge_base: index.title.clone(),
            root: index.root.clone(),
            url: document.url.clone(),
            fetched_at: document.fetched_at.clone(),
            stale: document.stale,
        }
    })
}
