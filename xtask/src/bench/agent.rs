//! The agent: time from its start to its first request, cost of a step and memory, compared with other agents
//! (`agent_clients`); memory after many turns; size. All programs use the same scripted model.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use ragmaker_tests::model::{Model, ModelReply, Offered, ReceivedConversation};
use serde_json::{Value, json};

use super::{
    agent_clients::{Client, reading},
    harness::{Subject, compare, median, verdict},
    memory, release_build,
};
use crate::process::root;

/// From before the process is started until the model is asked, in milliseconds.
const START: f64 = 25.0;
/// The minimum ratio of the start of Gemini CLI to ours.
const FASTER: f64 = 20.0;
/// The goals for the cost of a step, in milliseconds: with a tool in the agent's process, and with one in a subprocess.
const STEP: (f64, f64) = (3.0, 8.0);
/// The maximum memory after [`TURNS`] turns, in bytes.
const MEMORY: u64 = 30_000_000;
/// The maximum size in bytes of the executable.
const SIZE: u64 = 12_000_000;

const STEPS: usize = 100;
const TURNS: usize = 200;
const ROUNDS: usize = 7;

pub(crate) fn run() -> anyhow::Result<()> {
    let program = release_build(&["agent"])?.join("ragmaker-agent");
    let all = root().join("target/bench/agent");
    let (folder, home) = (all.join("project"), all.join("home"));
    // Conversations of the last run would count.
    let _ = fs::remove_dir_all(&all);
    fs::create_dir_all(&folder)?;
    fs::create_dir_all(&home)?;
    fs::write(folder.join("small.txt"), "A small file, read by an agent.\n".repeat(20))?;
    let bench = Bench { program, folder, home };
    bench.start()?;
    bench.side_by_side()?;
    println!("| the agent | | goal |\n|---|---:|---|");
    for (what, tool, goal) in [
        ("a step with read_file, in its process, median ms", "read_file", STEP.0),
        ("a step with find_files, in a process of its own, median ms", "find_files", STEP.1),
    ] {
        let took = bench.steps(tool)?;
        println!("| {what} | {took:.2} | at most {goal}: {} |", verdict(took <= goal));
    }
    bench.memory()?;
    let size = fs::metadata(&bench.program)?.len();
    println!(
        "| executable, MB | {:.1} | at most {}: {} |\n",
        size as f64 / 1e6,
        SIZE / 1_000_000,
        verdict(size <= SIZE)
    );
    Ok(())
}

struct Bench {
    program: PathBuf,
    /// The project.
    folder: PathBuf,
    /// The home of every program, outside: a project that contains a home is refused as too broad.
    home: PathBuf,
}

/// The times between the replies of the model and the requests that follow.
#[derive(Default)]
struct Gaps {
    /// The program that is measured.
    name: String,
    said: Option<Instant>,
    steps: Vec<f64>,
}

impl Bench {
    fn agent(&self, model: &Model) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--provider", "compatible", "--model", "scripted", "--base-url", &model.url()]);
        self.at_home(&mut command);
        command
    }

    fn at_home(&self, command: &mut Command) {
        command.current_dir(&self.folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env("HOME", &self.home).env("RAGMAKER_PROJECT_ROOT", &self.folder).env("TERM", "dumb");
    }

    fn start(&self) -> anyhow::Result<()> {
        let (sender, asked) = mpsc::channel();
        let sender = Mutex::new(sender);
        let model = Model::start(move |heard| {
            // Nobody waits for the requests after the first.
            let _ = sender.lock().map(|sender| sender.send(heard.arrived.unwrap_or_else(Instant::now)));
            ModelReply::Text("Twice a day.".to_owned())
        });
        let asked = &asked;
        let measure = |mut command: Command| {
            move || {
                while asked.try_recv().is_ok() {}
                let begun = Instant::now();
                let mut child = command.arg("When is high water?").spawn()?;
                let first = asked.recv_timeout(Duration::from_mins(2)).context("the model is not asked")?;
                child.wait()?;
                anyhow::Ok(first - begun)
            }
        };
        let mut times = vec![];
        for _ in 0..30 {
            times.push(measure(self.agent(&model))()?.as_secs_f64() * 1e3);
        }
        let took = median(times.into_iter());
        println!("\n| start to first request | median ms | goal |\n|---|---:|---|");
        println!("| ragmaker-agent | {took:.1} | at most {START}: {} |", verdict(took <= START));
        let clients = Client::installed(&self.home, &model.url())?;
        if clients.is_empty() {
            return Ok(());
        }
        let mut subjects = vec![Subject::new("ragmaker-agent", || measure(self.agent(&model))())];
        for client in &clients {
            subjects.push(Subject::new(format!("{} {}", client.name, client.version(&self.home)), || {
                let mut command = client.command();
                self.at_home(&mut command);
                measure(command)()
            }));
        }
        let ratios = compare("start to first request", 1, ROUNDS, Duration::ZERO, subjects)?;
        if let Some(gemini) = ratios.get(1).filter(|_| clients[0].name == "Gemini CLI") {
            println!(
                "Gemini CLI takes {gemini:.0} times as long, goal at least {FASTER}: {}\n",
                verdict(*gemini >= FASTER)
            );
        }
        Ok(())
    }

    /// The cost of a step and the memory of each program, which reads another file in each of [`STEPS`] steps.
    fn side_by_side(&self) -> anyhow::Result<()> {
        for step in 0..STEPS {
            let text = format!("A small file, read by an agent in step {step}.\n").repeat(20);
            fs::write(self.folder.join(format!("small-{step}.txt")), text)?;
        }
        let times = Arc::new(Mutex::new(Gaps::default()));
        let (noted, folder) = (Arc::clone(&times), self.folder.clone());
        let model = Model::start(move |heard: &ReceivedConversation| {
            let Ok(mut times) = noted.lock() else { return ModelReply::Text(String::new()) };
            let step = heard.results.len();
            let file = folder.join(format!("small-{step}.txt"));
            let call = match &*times.name {
                "ragmaker-agent" => {
                    let arguments = json!({"path": format!("small-{step}.txt")});
                    Some((Offered { name: "read_file".to_owned(), namespace: None }, arguments))
                }
                _ => reading(&heard.tools, &file),
            };
            // Some programs ask for a title of the conversation as well.
            if step == times.steps.len() + 1
                && let (Some(said), Some(arrived)) = (times.said, heard.arrived)
            {
                times.steps.push((arrived - said).as_secs_f64() * 1e3);
            }
            times.said = Some(Instant::now());
            match call {
                Some((tool, arguments)) if step < STEPS => ModelReply::Call(tool, arguments),
                _ => ModelReply::Text("Done.".to_owned()),
            }
        });
        println!("\n| {STEPS} steps that read a file | median ms of a step | most memory, MB |\n|---|---:|---:|");
        let mut own = self.agent(&model);
        own.args(["--max-steps", "200"]);
        let mut programs = vec![("ragmaker-agent".to_owned(), own)];
        for client in Client::installed(&self.home, &model.url())? {
            let mut command = client.command();
            self.at_home(&mut command);
            programs.push((client.name.to_owned(), command));
        }
        for (name, mut command) in programs {
            if let Ok(mut times) = times.lock() {
                *times = Gaps { name: name.clone(), ..Gaps::default() };
            }
            let peak = memory::peak_of_tree(command.arg("Read the files."), Duration::from_mins(5))?;
            let steps = times.lock().map(|times| times.steps.clone()).unwrap_or_default();
            let done = if steps.len() >= STEPS { String::new() } else { format!(" ({} steps)", steps.len()) };
            let peak = peak.map_or("–".to_owned(), |peak| format!("{:.1}", peak as f64 / 1e6));
            println!("| {name}{done} | {:.1} | {peak} |", median(steps.into_iter()));
        }
        println!();
        Ok(())
    }

    /// The cost of a step, from the model's answer to the next request, including the tool's own work.
    fn steps(&self, tool: &'static str) -> anyhow::Result<f64> {
        let times = Arc::new(Mutex::new((None::<Instant>, vec![])));
        let noted = Arc::clone(&times);
        let model = Model::start(move |heard: &ReceivedConversation| {
            let Ok(mut times) = noted.lock() else { return ModelReply::Text(String::new()) };
            if let (Some(said), Some(arrived)) = (times.0, heard.arrived) {
                times.1.push((arrived - said).as_secs_f64() * 1e3);
            }
            let step = heard.results.len();
            times.0 = Some(Instant::now());
            if step >= STEPS {
                return ModelReply::Text("Done.".to_owned());
            }
            let arguments = match tool {
                "read_file" => json!({"path": "small.txt", "limit": step + 1}),
                _ => json!({"glob": "*.txt", "limit": step + 1}),
            };
            ModelReply::Call(Offered { name: tool.to_owned(), namespace: None }, arguments)
        });
        let mut command = self.agent(&model);
        let status = command.args(["--max-steps", "200", "Work."]).status()?;
        ensure!(status.success(), "the agent failed: {status}");
        let times = times.lock().map(|times| times.1.clone()).unwrap_or_default();
        ensure!(times.len() >= STEPS, "{} steps", times.len());
        Ok(median(times.into_iter()))
    }

    /// The peak memory of a process that continues a conversation of many turns.
    fn memory(&self) -> anyhow::Result<()> {
        let model =
            Model::start(|heard| ModelReply::Text(format!("Answer {}: {}", heard.texts.len(), "tide ".repeat(100))));
        let run = |more: &[&str]| {
            let mut command = self.agent(&model);
            command.env("MAX_CONVERSATION_TURNS", "0").arg("When is high water?").args(more);
            command
        };
        ensure!(run(&[]).status()?.success(), "the first turn fails");
        for _ in 1..TURNS {
            ensure!(run(&["--continue"]).status()?.success(), "a turn fails");
        }
        if let Some(peak) = memory::peak(&mut run(&["--continue"]))? {
            println!(
                "| peak memory after {TURNS} turns, MB | {:.1} | at most {}: {} |",
                peak as f64 / 1e6,
                MEMORY / 1_000_000,
                verdict(peak <= MEMORY)
            );
        }
        let turns = conversation_turns(&self.folder)?;
        ensure!(turns > TURNS, "{turns} turns");
        Ok(())
    }
}

/// The turns of the longest conversation of the project.
fn conversation_turns(folder: &Path) -> anyhow::Result<usize> {
    let mut most = 0;
    for entry in fs::read_dir(folder.join(".tmp/cache/conversations"))? {
        let text = fs::read_to_string(entry?.path()).unwrap_or_default();
        let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        most = most.max(events.filter(|event| event["type"] == "user").count());
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_turns_of_the_longest_conversation_are_counted() {
        let project = tempfile::tempdir().unwrap();
        assert!(conversation_turns(project.path()).is_err());
        let folder = project.path().join(".tmp/cache/conversations");
        fs::create_dir_all(&folder).unwrap();
        let event = |kind: &str| format!("{{\"type\": \"{kind}\", \"text\": \"user\"}}\n");
        fs::write(folder.join("a.jsonl"), event("user") + &event("model")).unwrap();
        // A process that was killed leaves the beginning of a line.
        fs::write(
            folder.join("b.jsonl"),
            ["user", "model", "tool", "user"].map(event).concat() + "{\"type\": \"user\"",
        )
        .unwrap();
        fs::write(folder.join("b.state.json"), b"\xff").unwrap();
        assert_eq!(conversation_turns(project.path()).unwrap(), 2);
    }
}
