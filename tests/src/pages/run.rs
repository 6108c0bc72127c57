//! Runs the blocks of a page as its reader would: in a project, with the tools on `PATH`, a browser, and a model.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use super::{Block, BlockTest};
use crate::{
    console::{self, Console, Step},
    discovery::workspace,
    model::{
        Model, ModelReply, ReceivedConversation,
        workflows::{self, Source},
    },
    run::executable,
    site::Site,
};

/// The book that the commands of the documentation gather, in place of which the test site has a shorter one.
const BOOK: &str = "https://doc.rust-lang.org/book/";

/// The time limit for a block: each call of a browser without a session starts one.
const TIMEOUT: Duration = Duration::from_mins(5);

/// The question about the book.
const QUESTION: &str = "When does a closure need move?";

/// The model: it gathers the book, answers the question from it, and knows the answer to everything else.
fn model(site: &Site) -> Model {
    let pages = ["ch01-installation.html", "ch04-ownership.html", "ch13-closures.html"];
    let source = Source { start: site.url("/book/"), pages, kb: "kb/rust-book", title: "The Rust book" };
    let (gather, ask) = (workflows::gather(source), workflows::ask(QUESTION));
    Model::start(move |heard: &ReceivedConversation| {
        let is_told = |words: &str| heard.texts.iter().any(|text| text.contains(words));
        if is_told("Gather a knowledge base from http") {
            gather(heard)
        } else if is_told(QUESTION) {
            ask(heard)
        } else {
            ModelReply::Text("The folder has notes about tides.".to_owned())
        }
    })
}

/// A reader of a page, who types its commands.
pub struct Reader {
    site: Site,
    model: Model,
    console: Console,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

impl Reader {
    /// A reader who has configured a model.
    ///
    /// # Panics
    ///
    /// If the project cannot be made, or no port is free.
    pub fn new() -> Self {
        let site = Site::start();
        let model = model(&site);
        let console = Console::new()
            .env("RAGMAKER_PROVIDER", "gemini")
            .env("RAGMAKER_MODEL", "scripted")
            .env("GEMINI_API_KEY", "scripted")
            .env("RAGMAKER_BASE_URL", &model.url())
            .env("OPENAI_API_KEY", "scripted")
            .env("OPENAI_BASE_URL", &format!("{}/v1", model.url()));
        Self { site, model, console }
    }

    /// Runs a block. Returns the outputs of a `console` block, or what is wrong.
    ///
    /// # Errors
    ///
    /// If a command fails, or an output is not what the block shows.
    pub fn run(&self, block: &Block) -> Result<Vec<String>, String> {
        for command in &block.before {
            self.succeeds(command)?;
        }
        let outputs = match (&block.test, block.language.as_str()) {
            (BlockTest::Not(_) | BlockTest::By(_), _) => return Ok(vec![]),
            (BlockTest::Server, _) => self.serves(&block.text)?,
            (BlockTest::Run, "console") => self.prints(&block.text),
            (BlockTest::Run, "python") => self.succeeds(&format!("python3 - <<'END'\n{}\nEND", block.text))?,
            (BlockTest::Run, _) => self.succeeds(&adapted(&block.text)?)?,
        };
        for command in &block.after {
            self.succeeds(command)?;
        }
        Ok(outputs)
    }

    /// The output of each command of a console block.
    fn prints(&self, text: &str) -> Vec<String> {
        let steps = console::blocks(&format!("```console\n{text}\n```\n"));
        steps.iter().flatten().map(|step: &Step| self.console.run(&step.command, &self.site)).collect()
    }

    fn succeeds(&self, script: &str) -> Result<Vec<String>, String> {
        let script = script.replace(BOOK, &self.site.url("/book/"));
        let run = self.console.script(&script, &self.site).within(TIMEOUT).run_raw();
        let output = String::from_utf8_lossy(&run.stdout);
        // A pipeline may succeed although one of its tools failed.
        if run.status.success() && !output.contains("\"error_code\": \"") {
            return Ok(vec![]);
        }
        Err(format!("{script}\n{}\n{output}\nthe model was asked: {:#?}", run.status, self.model.requests()))
    }

    /// Runs a server until it has printed its address.
    fn serves(&self, text: &str) -> Result<Vec<String>, String> {
        let script = format!("exec {}", adapted(text)?);
        let mut command: Command = self.console.script(&script, &self.site).into_command();
        let mut server = command.stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
        let lines = server.stdout.take().into_iter().flat_map(|output| BufReader::new(output).lines());
        let mut lines = lines.map_while(Result::ok);
        // A server that prints nothing is ended, and with it its output.
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(lines.any(|line| line.contains("\"url\": \"http://127.0.0.1:"))));
        let is_serving = receiver.recv_timeout(TIMEOUT).unwrap_or_default();
        let _ = server.kill();
        let _ = server.wait();
        if is_serving { Ok(vec![]) } else { Err(format!("{script}\nended without an address")) }
    }
}

/// The script as a test can run it: without what is built already, without questions, on free ports.
fn adapted(script: &str) -> Result<String, String> {
    let mut adapted = String::new();
    for line in script.lines() {
        let command = line.split("  #").next().unwrap_or_default().trim_end();
        let is_assignment = |word: &&str| word.contains('=') && !word.starts_with('-');
        let words: Vec<&str> = command.split(' ').skip_while(is_assignment).collect();
        match &words[..] {
            ["cargo", "install", "--locked", "--path", package] => {
                // The executables of this build are on `PATH` already.
                is_there(workspace().join(package).join("src/main.rs").is_file(), line)?;
            }
            ["cargo", "xtask", rest @ ..] => {
                // Its parser has read what is before `--help`.
                let output = Command::new(executable("xtask")).args(rest).arg("--help").output();
                is_there(output.is_ok_and(|output| output.status.success()), line)?;
            }
            ["cargo", "test", "-p", package, ..] => {
                let lock = fs::read_to_string(workspace().join("Cargo.lock")).unwrap_or_default();
                is_there(lock.contains(&format!("\nname = \"{package}\"\n")), line)?;
            }
            ["ragmaker", "connect", _] => adapted.extend([command, " --yes"]),
            // Beside the executable of this build are the other executables.
            ["ragmaker", "link"] => adapted.extend([command, " --dir links"]),
            _ => adapted += &line.replace("=…", "=scripted").replace("--http 8765", "--http 0"),
        }
        adapted.push('\n');
    }
    Ok(adapted)
}

fn is_there(is_there: bool, line: &str) -> Result<(), String> {
    if is_there { Ok(()) } else { Err(format!("there is no such package or task: {line}")) }
}
