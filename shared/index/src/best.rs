//! Candidates for the hits of a query, and the choice of the best.

use std::cmp::Ordering;

/// A chunk that may be a hit.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) score: f32,
    /// Which of the segments of all indexes.
    pub(crate) part: u32,
    pub(crate) chunk: u32,
    /// One bit for each term of the query that it holds.
    pub(crate) held: u64,
}

impl Candidate {
    pub(crate) fn at(part: u32, chunk: u32) -> Self {
        Self { score: 0.0, part, chunk, held: 0 }
    }
}

/// The best of many candidates, which come in the order of parts and chunks.
pub(crate) struct Best {
    kept: Vec<Candidate>,
    most: usize,
    /// What is not above it is not among the best; what is as good came before.
    least: f32,
    /// How many there were.
    total: usize,
}

impl Best {
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

    /// How many candidates there were.
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
