//! Candidates for the hits of a query, and the choice of the best.

use std::cmp::Ordering;

/// A chunk that matches the query.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) score: f32,
    /// The index of its segment among the segments of all indexes.
    pub(crate) part: u32,
    pub(crate) chunk: u32,
    /// One bit for each term of the query that the chunk contains.
    pub(crate) held: u64,
}

impl Candidate {
    pub(crate) fn at(part: u32, chunk: u32) -> Self {
        Self { score: 0.0, part, chunk, held: 0 }
    }
}

/// The best of many candidates, which are added in the order of segments and chunks.
pub(crate) struct TopCandidates {
    kept: Vec<Candidate>,
    most: usize,
    /// The lowest score that is kept. Of equal scores, the earlier candidate is kept.
    least: f32,
    /// The number of added candidates.
    total: usize,
}

impl TopCandidates {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: vec![], most, least: f32::NEG_INFINITY, total: 0 }
    }

    pub(crate) fn add(&mut self, candidate: Candidate) {
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

    /// The number of added candidates.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    pub(crate) fn sorted(mut self) -> Vec<Candidate> {
        self.kept.sort_unstable_by(better);
        self.kept.truncate(self.most);
        self.kept
    }
}

fn better(a: &Candidate, b: &Candidate) -> Ordering {
    b.score.total_cmp(&a.score).then((a.part, a.chunk).cmp(&(b.part, b.chunk)))
}
