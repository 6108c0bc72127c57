//! Paired measurement: each round runs every program once, so a disturbance of the machine affects all of them. Ratios
//! are computed within a round, and the median of the ratios is reported.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};

use crate::process::{line, ticking};

/// A measured program: one call is one sample.
pub(crate) struct Subject<'a> {
    pub(crate) name: String,
    /// The maximum median ratio to the baseline.
    pub(crate) goal: Option<f64>,
    run: Box<dyn FnMut() -> anyhow::Result<Duration> + 'a>,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(name: impl Into<String>, run: impl FnMut() -> anyhow::Result<Duration> + 'a) -> Self {
        Self { name: name.into(), goal: None, run: Box::new(run) }
    }

    /// A process, from before its start until its end with exit status `code`.
    pub(crate) fn process(name: impl Into<String>, mut command: Command, code: i32) -> Self {
        Self::new(name, move || timed(&mut command, code))
    }

    /// Several processes one after another, all of which succeed.
    pub(crate) fn processes(name: impl Into<String>, mut commands: [Command; 2]) -> Self {
        Self::new(name, move || commands.iter_mut().map(|command| timed(command, 0)).sum())
    }

    /// Sets the goal: the maximum of the median ratio to the baseline.
    pub(crate) fn at_most(mut self, ratio: f64) -> Self {
        self.goal = Some(ratio);
        self
    }
}

/// Runs every subject once in each of `rounds` rounds, after `warm_up` rounds that are not counted. Prints medians and
/// ratios, and returns the ratios; the first subject is the baseline. It waits for `pause` before each subject, because
/// a browser continues painting after its page has loaded, which must not count for the next subject.
pub(crate) fn compare(
    label: &str,
    warm_up: usize,
    rounds: usize,
    pause: Duration,
    mut subjects: Vec<Subject<'_>>,
) -> anyhow::Result<Vec<f64>> {
    let mut samples = vec![Vec::with_capacity(rounds); subjects.len()];
    ticking(&format!("{label}: {rounds} rounds of {} subjects", subjects.len()), || {
        for round in 0..warm_up + rounds {
            for at in order(round, subjects.len()) {
                thread::sleep(pause);
                let took = (subjects[at].run)()?;
                if round >= warm_up {
                    samples[at].push(took.as_secs_f64() * 1e3);
                }
            }
        }
        anyhow::Ok(())
    })?;
    println!("\n| {label} | median ms | ratio | goal |\n|---|---:|---:|---|");
    let mut ratios = vec![];
    for (subject, own) in subjects.iter().zip(&samples) {
        let ratio = median(own.iter().zip(&samples[0]).map(|(own, base)| own / base));
        let goal = subject.goal.map_or(String::new(), |goal| format!("at most {goal}x: {}", verdict(ratio <= goal)));
        ratios.push(ratio);
        println!("| {} | {:.2} | {ratio:.2}x | {goal} |", subject.name, median(own.iter().copied()));
    }
    println!();
    Ok(ratios)
}

/// The order in which `count` subjects run in `round`: another one each time, so that no subject
/// always follows the same other one, and the same in every run.
pub(crate) fn order(round: usize, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_cached_key(|at| BuildHasherDefault::<DefaultHasher>::default().hash_one((round, at)));
    order
}

/// Runs `command` until it has ended with exit status `code`, and returns the time it took.
pub(crate) fn timed(command: &mut Command, code: i32) -> anyhow::Result<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status().with_context(|| format!("cannot run {}", line(command)))?;
    let took = started.elapsed();
    ensure!(status.code() == Some(code), "{}: {status}", line(command));
    Ok(took)
}

/// The text for a table that says whether a goal was met.
pub(crate) fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

/// The median of `values`.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match (values.len(), values.len() / 2) {
        (0, _) => f64::NAN,
        (n, half) if n % 2 == 0 => f64::midpoint(values[half - 1], values[half]),
        (_, half) => values[half],
    }
}

/// The smallest of `values` that `percent` of a hundred do not exceed (nearest rank).
pub(crate) fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let rank = (percent * values.len()).div_ceil(100);
    values.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median([3.0, 1.0, 2.0].into_iter()) - 2.0).abs() < 1e-9);
        assert!((median([4.0, 1.0, 2.0, 3.0].into_iter()) - 2.5).abs() < 1e-9);
        assert!(median(std::iter::empty()).is_nan());
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        for (percent, wanted) in [(50, 100.0), (90, 180.0), (99, 198.0), (100, 200.0)] {
            assert!((percentile(&values, percent) - wanted).abs() < 1e-9, "{percent}");
        }
        assert!(percentile(&[], 50).is_nan());
    }

    #[test]
    fn subjects_run_in_changing_order() {
        let orders: Vec<_> = (0..20).map(|round| order(round, 3)).collect();
        for permutation in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            assert!(orders.contains(&permutation.to_vec()), "{orders:?}");
        }
    }

    #[test]
    fn every_subject_runs_in_every_round_and_a_failure_ends_it() {
        let (first, second) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
        let counted = |count: &std::cell::Cell<u32>| {
            count.set(count.get() + 1);
            Ok(Duration::from_millis(1))
        };
        let subjects = vec![Subject::new("a", || counted(&first)), Subject::new("b", || counted(&second)).at_most(2.0)];
        compare("test", 2, 5, Duration::ZERO, subjects).unwrap();
        assert_eq!((first.get(), second.get()), (7, 7));
        let fails = Subject::new("c", || anyhow::bail!("out of order"));
        assert_eq!(compare("test", 0, 1, Duration::ZERO, vec![fails]).unwrap_err().to_string(), "out of order");
    }
}
