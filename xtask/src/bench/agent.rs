//! The agent: time from its start to its first request, compared with the clients that `cargo xtask test --clients`
//! installs; cost of a step; memory after many turns; size. All programs use the same scripted model.

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

/// A client that is started: its executable, its arguments and its environment.
type Started<'a> = (&'static str, &'a [&'a str], &'a [(&'a str, &'a str)]);

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

    /// The clients that are installed, as their pages run them with a prompt.
    fn clients(&self, model: &Model) -> anyhow::Result<Vec<(&'static str, Command)>> {
        let bin = root().join("target/clients/node_modules/.bin");
        let home = &self.home;
        let gemini = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false}, "model": {"name": "gemini-2.5-pro"}});
        let codex = format!(
            "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"MODEL_KEY\"\n",
            model.url()
        );
        let opencode = json!({"model": "scripted/scripted", "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": format!("{}/v1", model.url()), "apiKey": "none"}, "models": {"scripted": {"tool_call": true}}}}});
        for (name, text) in [
            (".gemini/settings.json", gemini.to_string()),
            (".codex/config.toml", codex),
            (".config/opencode/opencode.json", opencode.to_string()),
        ] {
            let path = home.join(name);
            fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
            fs::write(path, text)?;
        }
        let url = model.url();
        let all: [Started<'_>; 4] = [
            (
                "gemini",
                &["--yolo", "--prompt"],
                &[("GEMINI_API_KEY", "none"), ("GOOGLE_GEMINI_BASE_URL", &url), ("GEMINI_CLI_TRUST_WORKSPACE", "true")],
            ),
            ("codex", &["exec", "--skip-git-repo-check"], &[("MODEL_KEY", "none")]),
            (
                "claude",
                &["--print"],
                &[
                    ("ANTHROPIC_BASE_URL", &url),
                    ("ANTHROPIC_API_KEY", "none"),
                    ("DISABLE_AUTOUPDATER", "1"),
                    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ],
            ),
            ("opencode", &["run"], &[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")]),
        ];
        let mut clients = vec![];
        for (name, arguments, variables) in all {
            let program = bin.join(name);
            if !program.exists() {
                println!("{name} is not installed: run `cargo xtask test --clients` first");
                continue;
            }
            let mut command = Command::new(program);
            command.args(arguments).envs(variables.iter().copied());
            self.at_home(&mut command);
            clients.push((name, command));
        }
        Ok(clients)
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
        let clients = self.clients(&model)?;
        if clients.is_empty() {
            return Ok(());
        }
        let mut subjects = vec![Subject::new("ragmaker-agent", || measure(self.agent(&model))())];
        for (name, command) in clients {
            let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
            let variables: Vec<_> =
                command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
            let program = command.get_program().to_owned();
            subjects.push(Subject::new(name, move || {
                let mut command = Command::new(&program);
                command.args(&arguments);
                self.at_home(&mut command);
                for (name, value) in &variables {
                    command.env(name, value.clone().unwrap_or_default());
                }
                measure(command)()
            }));
        }
        let ratios = compare("start to first request", 1, ROUNDS, Duration::ZERO, subjects)?;
        if let Some(gemini) = ratios.get(1) {
            println!(
                "Gemini CLI takes {gemini:.0} times as long, goal at least {FASTER}: {}\n",
                verdict(*gemini >= FASTER)
            );
        }
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
