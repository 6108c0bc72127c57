//! `browser-act` in an open page of 500 links: a step compared with the page's own time for it, ten steps in one call
//! compared with one, and compared with agent-browser's `batch` and a script of `@playwright/cli`. Then the sizes of
//! answers.

use std::{
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::{AgentBrowser, Bench, PAUSE, PlaywrightCli, done};
use crate::{
    bench::{
        baseline::Baseline,
        harness::{median, order, timed, verdict},
    },
    process::ticking,
};

/// The page, on which a button brings other rows.
const PAGE: &str = "/act/steps/500";

/// The maximum number of milliseconds of a step over the page's own time.
const STEP: f64 = 60.0;

/// The maximum time of ten steps, as a ratio to the time of one.
const TEN: f64 = 1.5;

/// The maximum size in bytes of the median answer.
const ANSWER: f64 = 600.0;

const ROUNDS: usize = 20;

/// The time that the page takes for a click on the button, until the rows are there.
const OWN: &str = "new Promise(done => {
  new MutationObserver((_, watch) => { watch.disconnect(); done(true); }).observe(document.getElementById('rows'), { childList: true });
  document.getElementById('next').click();
})";

/// Steps of every kind, for the sizes of answers.
const STEPS: [&str; 9] = [
    r#"{"click":"button:Next"}"#,
    r#"{"click":"button:Next","until":3}"#,
    r#"{"fill":["textbox:Filter","tides"]}"#,
    r#"{"press":["textbox:Filter","ArrowDown"]}"#,
    r#"{"check":"checkbox:All"}"#,
    r#"{"select":["combobox:Order","Newest"]}"#,
    r#"{"hover":"link:Link 7"}"#,
    r#"{"scroll":"end"}"#,
    r#"{"click":"link:Link 9"}"#,
];

pub(super) fn run(
    bench: &Bench,
    baseline: &Baseline,
    peer: Option<&AgentBrowser>,
    cli: Option<&PlaywrightCli>,
) -> anyhow::Result<()> {
    let url = bench.site.url(PAGE);
    baseline.load(&url)?;
    // Into the tab that the calls act in.
    done(&mut bench.tool("navigate", &["--url", &url]))?;
    if let Some(peer) = peer {
        done(&mut peer.command(&["open", &url]))?;
    }
    if let Some(cli) = cli {
        done(&mut cli.command(&["goto", &url]))?;
    }
    let steps = |steps: Vec<Value>| json!(steps).to_string();
    let click = steps(vec![json!({"click": "button:Next"})]);
    let fill = |count: usize| {
        steps((0..count).map(|index| json!({"fill": ["textbox:Filter", format!("tide {index}")]})).collect())
    };
    let mut calls = vec![
        ("browser-act, one click".to_owned(), bench.tool("act", &["--do", &click])),
        ("browser-act, one step".to_owned(), bench.tool("act", &["--do", &fill(1)])),
        ("browser-act, ten steps in one call".to_owned(), bench.tool("act", &["--do", &fill(10)])),
    ];
    if let Some(peer) = peer {
        let commands: Vec<String> = (0..10).map(|index| format!("find label Filter fill \"tide {index}\"")).collect();
        let mut batch = vec!["batch", "--bail"];
        batch.extend(commands.iter().map(String::as_str));
        calls.push((format!("{} batch, the same ten", peer.version), peer.command(&batch)));
    }
    if let Some(cli) = cli {
        let ten = "async page => { for (let i = 0; i < 10; i++) await page.getByLabel('Filter').fill('tide ' + i); }";
        calls.push((format!("{} run-code, the same ten", cli.version), cli.command(&["run-code", ten])));
    }
    let mut samples = vec![vec![]; calls.len() + 1];
    ticking(&format!("act: {ROUNDS} rounds"), || {
        for round in 0..=ROUNDS {
            for at in order(round, samples.len()) {
                thread::sleep(PAUSE);
                let took = if at == 0 {
                    let begun = Instant::now();
                    baseline.value(OWN)?;
                    begun.elapsed()
                } else {
                    timed(&mut calls[at - 1].1, 0)?
                };
                // The first round warms up.
                if round > 0 {
                    samples[at].push(took.as_secs_f64() * 1e3);
                }
            }
        }
        anyhow::Ok(())
    })?;
    let middle = |at: usize| median(samples[at].iter().copied());
    println!("\n| act, 500 links | median ms | goal |\n|---|---:|---|");
    println!("| the page itself, one click | {:.1} | |", middle(0));
    let over = median(samples[1].iter().zip(&samples[0]).map(|(act, own)| act - own));
    let one = format!("at most {STEP} ms more: {}", verdict(over <= STEP));
    let ratio = median(samples[3].iter().zip(&samples[2]).map(|(ten, one)| ten / one));
    let ten = format!("{ratio:.2}x one step, at most {TEN}x: {}", verdict(ratio <= TEN));
    for (at, ((name, _), goal)) in calls.iter().zip([one, String::new(), ten]).enumerate() {
        println!("| {name} | {:.1} | {goal} |", middle(at + 1));
    }
    for (at, (name, _)) in calls.iter().enumerate().skip(3) {
        let faster = median(samples[3].iter().zip(&samples[at + 1]).map(|(ours, theirs)| ours / theirs)) < 1.0;
        println!("| {name} | {:.1} | ours below: {} |", middle(at + 1), verdict(faster));
    }
    sizes(bench, &url)
}

/// The bytes of the answers to steps of every kind.
fn sizes(bench: &Bench, url: &str) -> anyhow::Result<()> {
    let mut sizes = vec![];
    for step in STEPS {
        let mut tool: Command = bench.tool("act", &["--url", url, "--do", step]);
        let output = tool.stdin(Stdio::null()).output().context("browser-act does not run")?;
        ensure!(output.status.success(), "{step}: {}", String::from_utf8_lossy(&output.stderr));
        sizes.push(output.stdout.len() as f64);
    }
    let middle = median(sizes.iter().copied());
    let most = sizes.iter().copied().fold(0.0, f64::max);
    println!(
        "| bytes of an answer, median of {} kinds of steps (most {most}) | {middle} | at most {ANSWER}: {} |",
        sizes.len(),
        verdict(middle <= ANSWER)
    );
    Ok(())
}
