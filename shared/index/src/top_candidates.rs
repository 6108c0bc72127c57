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

impl Extend<Candidate> for TopCandidates {
    fn extend<T: IntoIterator<Item = Candidate>>(&mut self, candidates: T) {
        candidates.into_iter().for_each(|one| self.add(one));
    }
}

fn better(a: &Candidate, b: &Candidate) -> Ordering {
    b.score.total_cmp(&a.score).then((a.part, a.chunk).cmp(&(b.part, b.chunk)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scores and chunks of the best `most` of chunks with these scores.
    fn best(most: usize, scores: &[f32]) -> (Vec<(f32, u32)>, usize) {
        let mut top = TopCandidates::new(most);
        for (chunk, &score) in (0..).zip(scores) {
            top.add(Candidate { score, ..Candidate::at(chunk / 100, chunk) });
        }
        let total = top.total();
        (top.sorted().into_iter().map(|one| (one.score, one.chunk)).collect(), total)
    }

    #[test]
    fn the_best_are_those_of_a_full_sort() {
        // Scores with many ties, in no order.
        let scores: Vec<f32> = (0..2_000_u16).map(|n| f32::from(n.wrapping_mul(25_173) % 97)).collect();
        let mut sorted: Vec<(f32, u32)> = scores.iter().copied().zip(0..).collect();
        sorted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for most in [1, 2, 127, 128, 129, 300, 1_999, 2_000, 5_000] {
            let expected = &sorted[..most.min(sorted.len())];
            let (found, total) = best(most, &scores);
            assert_eq!((&found[..], total), (expected, 2_000), "{most}");
        }
    }

    #[test]
    fn of_equal_scores_the_earlier_chunk_is_kept() {
        assert_eq!(best(2, &[1.0; 600]).0, [(1.0, 0), (1.0, 1)]);
        assert_eq!(best(3, &[]).0, []);
    }
}
