//! Ranking the chunks of several indexes for a query, and reading the text of the best chunks.

use std::collections::HashSet;

use crate::{
    Filter, Hit, SearchResult,
    error::IndexError,
    query::{Phrase, Query},
    read::Reader,
    store::Index,
    texts::{IndexPart, Texts},
    tokens::{Term, Tokenizer},
    top_candidates::{Candidate, TopCandidates},
    vector_search::{Embedder, MERGED, VectorCoverage, VectorRanking, merged},
};

/// BM25's saturation of repeated terms, and the influence of a chunk's length. The usual B, 0.75, is for whole
/// documents. Chunks by heading have similar lengths, and a long one has more content. With 0.6, the nDCG@10 on
/// Vaswani is 0.443 (0.75: 0.435; 0.5: 0.445; 0.4: 0.440), and on `JSQuAD` it is the same; 0.5 is worse in
/// documentation.
const K1: f32 = 1.2;
const B: f32 = 0.6;
/// The number of hits that coverage considers.
const BEST: usize = 3;
/// How many candidates are kept for each hit, because some of them repeat others: a book on one page beside its
/// chapters, or several versions of a manual.
const CANDIDATES: usize = 4;

/// The input of a ranking.
pub(crate) struct RankingRequest<'a> {
    pub(crate) query: &'a Query,
    pub(crate) filter: &'a Filter<'a>,
    pub(crate) embedder: Option<&'a Embedder<'a>>,
    pub(crate) most: usize,
}

pub(crate) fn ranked(
    indexes: &[Index],
    wanted: &RankingRequest<'_>,
    tokenizer: &mut Tokenizer,
) -> Result<SearchResult, IndexError> {
    let RankingRequest { query, filter, embedder, most } = *wanted;
    let parts: Vec<IndexPart<'_>> = indexes
        .iter()
        .enumerate()
        .flat_map(|(number, index)| index.segments.iter().map(move |segment| IndexPart { number, index, segment }))
        .collect();
    let scores = scored(&parts, query, tokenizer)?;
    let mut texts = Texts::default();
    let size = most.saturating_mul(CANDIDATES);
    let least = if embedder.is_some() { MERGED } else { BEST };
    let best = best_by_terms(&parts, &scores, wanted, tokenizer, &mut texts, size.max(least))?;
    let mut total = best.total();
    let mut found = best.sorted();
    // Vectors do not prove that the words of the query occur.
    let held = found.iter().take(BEST).fold(0, |held, candidate| held | candidate.held);
    let coverage = held.count_ones() as f32 / query.terms.len() as f32;
    let mut nearness = None;
    if let Some(embedder) = embedder {
        nearness = Some(match VectorRanking::of(embedder, &query.text, &parts)? {
            Err(failure) => VectorCoverage { failure: Some(failure), ..VectorCoverage::default() },
            Ok(mut near) => {
                let failure = near.complete(&parts, &found, &mut texts)?;
                let mut best = TopCandidates::new(size.max(MERGED));
                for number in 0..parts.len() {
                    let mut own = near.candidates(&parts, number);
                    narrow(&mut own, &parts, query, tokenizer, filter, &mut texts)?;
                    best.extend(own);
                }
                let mut nearest = best.sorted();
                for one in &mut nearest {
                    one.held = scores[one.part as usize][one.chunk as usize].1;
                }
                total += nearest.iter().filter(|one| one.held == 0).count();
                found = merged([found, nearest], size);
                near.extent(&parts, failure)
            }
        });
    }
    let (mut hits, mut repeated) = distinct(&found, most, &parts, &mut texts)?;
    if hits.len() < most && embedder.is_none() && found.len() < total {
        // Most of the best candidates repeat others: all are compared.
        let all = best_by_terms(&parts, &scores, wanted, tokenizer, &mut texts, usize::MAX)?.sorted();
        (hits, repeated) = distinct(&all, most, &parts, &mut texts)?;
    }
    total -= repeated;
    if hits.len() < most {
        // Vectors rank a limited number of candidates, and all of them were compared.
        total = hits.len();
    }
    let documents = parts.iter().map(|part| part.segment.documents()).sum();
    let outside = indexes.iter().map(|index| index.outside).collect();
    Ok(SearchResult { hits, total, coverage, documents, outside, nearness })
}

/// The best `size` chunks by the `scores` of their terms that neither the query nor the filter excludes.
fn best_by_terms(
    parts: &[IndexPart<'_>],
    scores: &[Vec<(f32, u64)>],
    wanted: &RankingRequest<'_>,
    tokenizer: &mut Tokenizer,
    texts: &mut Texts,
    size: usize,
) -> Result<TopCandidates, IndexError> {
    let RankingRequest { query, filter, .. } = *wanted;
    let is_narrowed = filter.matches.is_some() || filter.since.is_some();
    let is_narrowed = is_narrowed || !query.phrases.is_empty() || !query.without.is_empty();
    let mut best = TopCandidates::new(size);
    for (number, scores) in scores.iter().enumerate() {
        let scores = scores.iter().enumerate().filter(|(_, (_, held))| *held != 0);
        let candidates = scores.map(|(chunk, (score, held))| Candidate {
            score: *score,
            held: *held,
            ..Candidate::at(number as u32, chunk as u32)
        });
        if is_narrowed {
            let mut own = candidates.collect();
            narrow(&mut own, parts, query, tokenizer, filter, texts)?;
            best.extend(own);
        } else {
            best.extend(candidates);
        }
    }
    Ok(best)
}

/// For each segment, the score of every chunk and the terms of the query that it contains.
fn scored(parts: &[IndexPart<'_>], query: &Query, tokenizer: &Tokenizer) -> Result<Vec<Vec<(f32, u64)>>, IndexError> {
    let chunks: usize = parts.iter().map(|part| part.segment.chunks()).sum();
    let total: u64 = parts.iter().map(|part| part.segment.reader.header.total).sum();
    let average = total as f32 / parts.iter().map(|part| part.segment.reader.chunks()).sum::<usize>().max(1) as f32;
    let norm = |length: &u16| K1 * (1.0 - B + B * f32::from(*length) / average.max(1.0));
    let norms = |part: &IndexPart<'_>| Ok(part.segment.reader.lengths()?.iter().map(norm).collect::<Vec<_>>());
    let norms = parts.iter().map(norms).collect::<Result<Vec<_>, IndexError>>()?;
    let mut scores: Vec<_> = norms.iter().map(|norms| vec![(0.0_f32, 0_u64); norms.len()]).collect();
    // One term after another, with the same buffers.
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
        for replaced in &part.segment.replaced {
            let range = replaced.first_chunk..replaced.first_chunk + replaced.chunks;
            scores.get_mut(range).ok_or(IndexError::Damaged)?.fill((0.0, 0));
        }
    }
    Ok(scores)
}

/// The chunks that contain a term, each once, with its weight.
#[derive(Default)]
struct Postings {
    chunks: Vec<(u32, u32)>,
    /// For each chunk, its weight during the summation over several terms; zero otherwise.
    weights: Vec<u32>,
}

impl Postings {
    fn read(
        &mut self,
        reader: &Reader,
        (term, is_prefix): (Term, bool),
        tokenizer: &Tokenizer,
    ) -> Result<(), IndexError> {
        let text = &tokenizer.texts()[term as usize];
        let Self { chunks, weights } = self;
        chunks.clear();
        if !is_prefix {
            return reader.postings(text, false, |chunk, weight| chunks.push((chunk as u32, weight)));
        }
        // If a chunk contains several terms, their weights are added.
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

/// Removes the candidates that the query or the filter excludes.
fn narrow(
    own: &mut Vec<Candidate>,
    parts: &[IndexPart<'_>],
    query: &Query,
    tokenizer: &mut Tokenizer,
    filter: &Filter<'_>,
    texts: &mut Texts,
) -> Result<(), IndexError> {
    let Some(part) = own.first().map(|one| &parts[one.part as usize]) else { return Ok(()) };
    let reader = &part.segment.reader;
    if filter.matches.is_some() || filter.since.is_some() {
        keep(own, |one| passes(reader, one.chunk, filter))?;
    }
    for (phrases, is_wanted) in [(&query.phrases, true), (&query.without, false)] {
        for phrase in phrases {
            let holds = chunks_with_all_terms(reader, phrase, tokenizer)?;
            if let [_] = phrase.terms[..] {
                // For a single term, the posting list is sufficient.
                own.retain(|one| holds[one.chunk as usize] == is_wanted);
                continue;
            }
            keep(own, |one| {
                let contains_phrase =
                    holds[one.chunk as usize] && contains_phrase(one, parts, phrase, tokenizer, texts)?;
                Ok(contains_phrase == is_wanted)
            })?;
        }
    }
    Ok(())
}

/// [`Vec::retain`] with a fallible predicate.
fn keep(
    own: &mut Vec<Candidate>,
    mut is_kept: impl FnMut(&Candidate) -> Result<bool, IndexError>,
) -> Result<(), IndexError> {
    let mut kept = vec![];
    for one in own.iter() {
        if is_kept(one)? {
            kept.push(*one);
        }
    }
    *own = kept;
    Ok(())
}

/// Whether the text of a chunk contains the words of the phrase in order.
fn contains_phrase(
    one: &Candidate,
    parts: &[IndexPart<'_>],
    phrase: &Phrase,
    tokenizer: &mut Tokenizer,
    texts: &mut Texts,
) -> Result<bool, IndexError> {
    let text = texts.of_chunk(one, parts)?;
    let terms = tokenizer.sequence(&text);
    Ok(terms.windows(phrase.sequence.len()).any(|run| run == phrase.sequence))
}

/// For each chunk, whether it contains all terms of a phrase.
fn chunks_with_all_terms(reader: &Reader, phrase: &Phrase, tokenizer: &Tokenizer) -> Result<Vec<bool>, IndexError> {
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

fn passes(reader: &Reader, chunk: u32, filter: &Filter<'_>) -> Result<bool, IndexError> {
    reader.chunk(chunk as usize, |_, document, nth| {
        if filter.since.is_some_and(|since| document.fetched_at < since) {
            return Ok(false);
        }
        let Some(matches) = filter.matches else { return Ok(true) };
        Ok(matches(document.path) || matches(document.url) || matches(&document.row(nth)?.heading))
    })
}

/// The first `most` hits that differ in their text or heading, and the number of candidates before the last of them
/// that repeat an earlier one. Only the targets of links may differ: those of a copy lead elsewhere.
fn distinct(
    found: &[Candidate],
    most: usize,
    parts: &[IndexPart<'_>],
    texts: &mut Texts,
) -> Result<(Vec<Hit>, usize), IndexError> {
    let (mut hits, mut seen, mut repeated) = (vec![], HashSet::new(), 0);
    for one in found {
        if hits.len() == most {
            break;
        }
        let hit = hit(one, parts, texts)?;
        if seen.insert((hit.heading.clone(), without_targets(&hit.text))) {
            hits.push(hit);
        } else {
            repeated += 1;
        }
    }
    Ok((hits, repeated))
}

/// A Markdown text without the targets of its links.
fn without_targets(text: &str) -> String {
    let mut parts = text.split("](");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push(']');
        kept.push_str(part.split_once(')').map_or(part, |(_, after)| after));
    }
    kept
}

fn hit(one: &Candidate, parts: &[IndexPart<'_>], texts: &mut Texts) -> Result<Hit, IndexError> {
    let text = texts.of_chunk(one, parts)?;
    let IndexPart { number, index, segment } = &parts[one.part as usize];
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::{Embedder, EmbeddingKind, Filter, search, tests::Base};

    #[test]
    fn rare_words_short_parts_and_titles_count_more() {
        let base = Base::new(&[
            ("rare.md", "# A\n\ncommon zebra\n"),
            ("twice.md", "# B\n\ncommon common\n"),
            ("long.md", "# C\n\ncommon and many other words that are about something else here\n"),
            ("common.md", "# D\n\nnothing\n"),
        ]);
        assert_eq!(base.find("common zebra")[0], "rare.md#a");
        // The name of `common.md` is its title.
        assert_eq!(base.find("common"), ["common.md#d", "twice.md#b", "rare.md#a", "long.md#c"]);
        let scores: Vec<f32> = base.found("common").hits.iter().map(|hit| hit.score).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b) && scores[3] > 0.0, "{scores:?}");
    }

    #[test]
    fn a_filter_restricts_hits_and_their_number_but_not_the_documents() {
        let base = Base::new(&[("a.md", "# Moon\n\nmoon\n"), ("b.md", "# Sun\n\nmoon\n")]);
        let find = |filter: &Filter<'_>| {
            let found = search(std::slice::from_ref(&base.catalog), "moon", filter, None, 10).unwrap();
            (found.hits.into_iter().map(|hit| hit.citation).collect::<Vec<_>>(), found.total, found.documents)
        };
        for (wanted, expected) in [
            ("b.md", vec!["b.md#sun"]),
            ("https://x.example/a", vec!["a.md#moon"]),
            ("Sun", vec!["b.md#sun"]),
            ("none", vec![]),
        ] {
            let matches = |text: &str| text.contains(wanted);
            let (hits, total, documents) = find(&Filter { matches: Some(&matches), since: None });
            assert_eq!(
                (&hits, total, documents),
                (&expected.iter().map(ToString::to_string).collect(), hits.len(), 2),
                "{wanted}"
            );
        }
        for (since, count) in [("2026-01-02T00:00:00Z", 2), ("2026", 2), ("2026-01-03", 0)] {
            assert_eq!(find(&Filter { matches: None, since: Some(since) }).1, count, "{since}");
        }
    }

    #[test]
    fn fewer_hits_are_given_than_are_counted() {
        let base = Base::new(&[("a.md", "# One\n\nmoon\n\n# Two\n\nmoon\n\n# Three\n\nmoon\n")]);
        let found = search(std::slice::from_ref(&base.catalog), "moon", &Filter::default(), None, 2).unwrap();
        assert_eq!((found.hits.len(), found.total), (2, 3));
        let none = search(std::slice::from_ref(&base.catalog), "moon", &Filter::default(), None, 0).unwrap();
        assert_eq!((none.hits.len(), none.total), (0, 3));
        let nowhere = search(&[], "moon", &Filter::default(), None, 2).unwrap();
        assert_eq!((nowhere.hits.len(), nowhere.total, nowhere.documents), (0, 0, 0));
    }

    #[test]
    fn a_part_that_several_documents_have_is_one_hit() {
        let part = |link: &str| format!("# Tides\n\nThe moon pulls, see [the sun]({link}).\n");
        let copies: Vec<(String, String)> =
            (0..9).map(|number| (format!("{number}.md"), part(&format!("{number}.html#sun")))).collect();
        let mut documents: Vec<(&str, &str)> =
            copies.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        documents.push(("other.md", "# Neap tides\n\nThe moon pulls, see [the sun](x).\n"));
        documents.push(("last.md", "# Stars\n\nFar behind the moon, and of no influence on the water at the pier.\n"));
        let base = Base::new(&documents);
        let find = |most: usize| {
            let found = search(std::slice::from_ref(&base.catalog), "moon", &Filter::default(), None, most).unwrap();
            (found.hits.into_iter().map(|hit| hit.citation).collect::<Vec<_>>(), found.total)
        };
        let all = ["0.md#tides", "other.md#neap-tides", "last.md#stars"];
        for most in [3, 20] {
            assert_eq!(find(most), (all.map(str::to_owned).to_vec(), 3), "{most}");
        }
        // The candidates that are kept at first are all copies.
        assert_eq!(find(2).0, all[..2]);
        // The repetitions are counted until they are met.
        assert_eq!(find(1), (vec!["0.md#tides".into()], 11));
    }

    #[test]
    fn copies_are_one_hit_with_vectors_as_well() {
        let documents: Vec<(String, &str)> =
            (0..30).map(|number| (format!("{number}.md"), "# Tides\n\nmoon\n")).collect();
        let documents: Vec<_> = documents.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let base = Base::new(&documents);
        let embed = |_: EmbeddingKind, texts: &[&str]| Ok(vec![Some(vec![1.0, 0.0]); texts.len()]);
        let embedder = Embedder { name: "a", budget: Duration::from_secs(9), embed: &embed };
        let catalogs = std::slice::from_ref(&base.catalog);
        let found = search(catalogs, "moon", &Filter::default(), Some(&embedder), 4).unwrap();
        assert_eq!((found.hits.len(), found.total), (1, 1), "there is no next page");
    }

    #[test]
    fn texts_are_compared_without_the_targets_of_links() {
        for (text, expected) in
            [("a [b](c) d ![e](f g).", "a [b] d ![e]."), ("no link", "no link"), ("[a](b", "[a]b"), ("", "")]
        {
            assert_eq!(super::without_targets(text), expected);
        }
    }

    #[test]
    fn several_knowledge_bases_are_ranked_as_one() {
        let (one, two) = (Base::new(&[("a.md", "# A\n\nmoon sun stars\n")]), Base::new(&[("b.md", "# B\n\nmoon\n")]));
        let found = search(&[one.catalog, two.catalog], "moon", &Filter::default(), None, 9).unwrap();
        let hits: Vec<_> =
            found.hits.iter().map(|hit| (hit.catalog, hit.citation.as_str(), hit.text.as_str())).collect();
        assert_eq!(hits, [(1, "b.md#b", "# B\n\nmoon"), (0, "a.md#a", "# A\n\nmoon sun stars")]);
        assert_eq!(found.outside, [0, 0]);
    }
}
