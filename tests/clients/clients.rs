//! The clients: each is installed into its own home directory as its page in docs/ says, configured for a
//! scripted model, and run.

use std::{
    env, fs,
    path::Path,
    process::{self, Command},
    time::Duration,
};

use ragmaker_tests::{
    discovery::workspace,
    examples::scripts,
    model::{Model, ModelReply, ReceivedConversation},
    run::{Project, Tool, executable},
    site::Site,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scripts::VisibleResults;

/// The time limit for a whole conversation.
const WAIT_TIMEOUT: Duration = Duration::from_mins(5);

/// A 1 by 1 image.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

/// A project, a site to gather from, and a home directory for one client.
pub(crate) struct ClientSetup {
    pub(crate) project: Project,
    pub(crate) site: Site,
    /// The domains that the person allows; all if `None`.
    pub(crate) domains: Option<&'static str>,
    home: TempDir,
}

impl ClientSetup {
    pub(crate) fn new() -> Self {
        let project = Project::new();
        project.write("chart.png", PNG);
        // With this file, Codex treats the folder as a Git repository.
        project.write(".git/HEAD", "ref: refs/heads/main\n");
        // Codex keeps no helpers if its home is below the system's temporary folder.
        let home = tempfile::Builder::new().prefix("home-").tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        let home = home.expect("target/tmp can be written");
        std::os::unix::fs::symlink(project.path(), home.path().join("project")).expect("the home is ours");
        Self { project, site: Site::start(), domains: None, home }
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.home.path().join(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the home is ours");
        fs::write(path, content).expect("the home is ours");
    }

    /// A program in this home, without the machine's own configuration. The clients of `target/clients` and the
    /// tools are on its `PATH`.
    fn command(&self, program: &str, folder: &Path) -> Command {
        let clients = workspace().join("target/clients/node_modules/.bin");
        assert!(clients.exists(), "no client is installed: run `cargo xtask test --clients`");
        let tools = executable("ragmaker-mcp").parent().expect("it is in a folder").to_owned();
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([tools, clients].into_iter().chain(env::split_paths(&path)));
        let path = path.expect("PATH can be joined");
        let mut command = Command::new(program);
        command.current_dir(folder).env_clear();
        command.env("PATH", path).env("HOME", self.home.path()).env("LANG", "C.UTF-8").env("TERM", "dumb");
        for name in ["RAGMAKER_CHROMIUM", "RAGMAKER_CHROMEDRIVER", "TMPDIR", "USER"] {
            if let Some(value) = env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(self.domains.map(|domains| ("RAGMAKER_ALLOWED_DOMAINS", domains)));
        command
    }
}

/// A client, installed in one of the documented ways.
pub(crate) struct Client {
    /// Its page of the documentation.
    page: &'static str,
    /// The section of the page and the index of the block with the installation commands.
    install: &'static [(&'static str, usize)],
    /// The section and the index of the block with the commands that gather.
    gather: (&'static str, usize),
    /// Writes a configuration for the model into the home, as of a user who has used the client before.
    configure: fn(&ClientSetup, model: &str),
    /// Environment variables that select the model.
    environment: fn(model: &str) -> Vec<(&'static str, String)>,
    /// The command line before the prompt.
    says: &'static [&'static str],
    /// Which parts of a result reach the model.
    pub(crate) saw: VisibleResults,
    /// Whether the client uses the discovery command and has no MCP server.
    pub(crate) is_discovering: bool,
}

/// The site in the examples of the documentation.
const SOURCE: &str = "https://doc.rust-lang.org/book/";

impl Client {
    /// Sends `prompt` to the client, whose model follows `script`, and returns the last request that the model
    /// received.
    pub(crate) fn run(
        &self,
        seat: &ClientSetup,
        prompt: &str,
        script: impl Fn(&ReceivedConversation) -> ModelReply + Send + Sync + 'static,
    ) -> ReceivedConversation {
        self.converse(seat, script, |model| {
            let mut command = seat.command(self.says[0], seat.project.path());
            command.envs((self.environment)(model)).args(&self.says[1..]).arg(prompt);
            command
        })
    }

    /// Runs the documented command to gather a knowledge base, with the test site instead of the example.
    pub(crate) fn gather(
        &self,
        seat: &ClientSetup,
        script: impl Fn(&ReceivedConversation) -> ModelReply + Send + Sync + 'static,
    ) -> ReceivedConversation {
        let typed = self.typed(self.gather).replace(SOURCE, &seat.site.url("/wiki/"));
        assert!(typed.contains("/wiki/"), "{} gathers from another example: {typed}", self.page);
        self.converse(seat, script, |model| self.shell(seat, seat.project.path(), &typed, model))
    }

    /// Whether its configuration offers the tool `tool` to the model.
    pub(crate) fn offers(&self, tool: &str) -> bool {
        let mut command = Command::new(executable("ragmaker-discover"));
        // The discovery command prints the offered tools; a server is told their profile.
        if !self.is_discovering {
            let config = workspace().join("integrations/claude-code/.mcp.json");
            let config: Value = serde_json::from_slice(&fs::read(config).expect("it is rendered")).expect("it is JSON");
            let [option, profile] = &config["mcpServers"]["ragmaker"]["args"].as_array().expect("arguments")[..2]
            else {
                panic!("{config}")
            };
            assert_eq!(option, "--profile");
            command.arg("--profile").arg(profile.as_str().expect("its name"));
        }
        let output = command.output().expect("it runs");
        let tools: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
        tools.as_array().expect("a list").iter().any(|offered| offered["name"] == tool)
    }

    fn converse(
        &self,
        seat: &ClientSetup,
        script: impl Fn(&ReceivedConversation) -> ModelReply + Send + Sync + 'static,
        command: impl FnOnce(&str) -> Command,
    ) -> ReceivedConversation {
        let model = Model::start(script);
        self.install(seat, &model.url());
        let output = Tool::from(command(&model.url())).within(WAIT_TIMEOUT).run_raw();
        assert!(
            output.status.success() && !model.heard().tools.is_empty(),
            "{}\n{}\n{:#?}",
            output.status,
            said(&output),
            model.requests()
        );
        model.heard()
    }

    fn install(&self, seat: &ClientSetup, model: &str) {
        (self.configure)(seat, model);
        for block in self.install {
            let typed: Vec<String> = self.typed(*block).lines().filter_map(without_a_person).collect();
            let output =
                Tool::from(self.shell(seat, &workspace(), &typed.join("\n"), model)).within(WAIT_TIMEOUT).run_raw();
            assert!(output.status.success(), "{typed:#?}\n{}", said(&output));
        }
    }

    fn typed(&self, (section, block): (&str, usize)) -> String {
        let page = workspace().join("docs").join(self.page);
        let text = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        let found = scripts(&text, section).into_iter().nth(block);
        found.unwrap_or_else(|| panic!("{}: {section} has no block {block}", self.page))
    }

    fn shell(&self, seat: &ClientSetup, folder: &Path, script: &str, model: &str) -> Command {
        let mut command = seat.command("sh", folder);
        command.envs((self.environment)(model)).args(["-e", "-c", script]);
        command
    }
}

/// A line of an installation with the flag that suppresses questions.
fn without_a_person(line: &str) -> Option<String> {
    if let Some(package) = line.strip_prefix("cargo install --locked --path ") {
        // The executables of this build are on `PATH` already.
        assert!(workspace().join(package).join("src/main.rs").is_file(), "{line}");
        return None;
    }
    let consent = match line {
        _ if line.starts_with("gemini extensions install ") => " --consent",
        _ if line.starts_with("ragmaker connect ") => " --yes",
        _ => "",
    };
    Some(format!("{line}{consent}"))
}

fn said(output: &process::Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn gemini_home(seat: &ClientSetup, _: &str) {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "general": {"enableAutoUpdate": false},
        "model": {"name": "gemini-2.5-pro"},
    });
    seat.write(".gemini/settings.json", settings.to_string());
}

fn gemini_environment(model: &str) -> Vec<(&'static str, String)> {
    vec![
        ("GEMINI_API_KEY", "none".to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", model.to_owned()),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
    ]
}

/// Gemini CLI with the extension, every call allowed.
pub(crate) const GEMINI: Client = Client {
    page: "gemini-cli.md",
    install: &[("As an extension", 0)],
    gather: ("Scripts", 1),
    configure: gemini_home,
    environment: gemini_environment,
    says: &["gemini", "--yolo", "--prompt"],
    saw: VisibleResults { errors: true, images: true },
    is_discovering: false,
};

/// Gemini CLI with the extension and the policy that allows what the workflows call.
pub(crate) const GEMINI_POLICY: Client =
    Client { install: &[("As an extension", 0), ("Scripts", 0)], says: &["gemini", "--prompt"], ..GEMINI };

/// Gemini CLI with its discovery command, which has no images.
pub(crate) const GEMINI_DISCOVERY: Client = Client {
    install: &[("By discovery command", 0)],
    configure: |seat, model| {
        gemini_home(seat, model);
        let settings = workspace().join("integrations/gemini-cli/discovery/settings.json");
        seat.project.write(".gemini/settings.json", fs::read(settings).expect("it is rendered"));
    },
    saw: VisibleResults { errors: true, images: false },
    is_discovering: true,
    ..GEMINI
};

/// Gemini CLI as `ragmaker connect` sets it up.
pub(crate) const GEMINI_CONNECTED: Client = Client { install: &[("Install", 0)], ..GEMINI };

fn claude_environment(model: &str) -> Vec<(&'static str, String)> {
    vec![
        ("ANTHROPIC_BASE_URL", model.to_owned()),
        ("ANTHROPIC_API_KEY", "none".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        // It would begin without a server that a busy machine is slow to start.
        ("MCP_CONNECTION_NONBLOCKING", "false".to_owned()),
        ("MCP_CONNECT_TIMEOUT_MS", "60000".to_owned()),
    ]
}

/// Claude Code with the plugin, whose commands allow what they need, and their copies with short names.
pub(crate) const CLAUDE_PLUGIN: Client = Client {
    page: "claude-code.md",
    install: &[("As a plugin", 0)],
    gather: ("Use", 0),
    configure: |_, _| {},
    environment: claude_environment,
    says: &["claude", "--print"],
    saw: VisibleResults { errors: true, images: true },
    is_discovering: false,
};

/// Claude Code with the server of .mcp.json in the project, which the person allows.
pub(crate) const CLAUDE_MCP: Client = Client {
    install: &[],
    configure: |seat, _| {
        let config = workspace().join("integrations/claude-code/.mcp.json");
        seat.project.write(".mcp.json", fs::read(config).expect("it is rendered"));
    },
    says: &["claude", "--strict-mcp-config", "--mcp-config=.mcp.json", "--allowedTools=mcp__ragmaker__*", "--print"],
    ..CLAUDE_PLUGIN
};

/// Claude Code with the server alone, as a line of the documentation adds it.
pub(crate) const CLAUDE_READ_ONLY: Client = Client {
    install: &[("The server alone", 0)],
    says: &["claude", "--allowedTools=mcp__ragmaker__*", "--print"],
    ..CLAUDE_PLUGIN
};

/// Claude Code as `ragmaker connect` sets it up.
pub(crate) const CLAUDE_CONNECTED: Client = Client { install: &[("Install", 0)], ..CLAUDE_PLUGIN };

/// Codex with the rendered configuration and skills.
pub(crate) const CODEX: Client = Client {
    page: "codex.md",
    install: &[("By hand", 0)],
    gather: ("Use", 0),
    configure: |seat, model| {
        let config = format!(
            "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{model}/v1\"\nwire_api = \"responses\"\nenv_key = \"MODEL_KEY\"\n\n"
        );
        seat.write(".codex/config.toml", config);
    },
    environment: |_| vec![("MODEL_KEY", "none".to_owned())],
    says: &["codex", "exec"],
    saw: VisibleResults { errors: false, images: true },
    is_discovering: false,
};

/// Codex as `ragmaker connect` sets it up.
pub(crate) const CODEX_CONNECTED: Client = Client { install: &[("Install", 0)], ..CODEX };

/// opencode with the rendered configuration and commands.
pub(crate) const OPENCODE: Client = Client {
    page: "opencode.md",
    install: &[("In one project", 0)],
    gather: ("Use", 0),
    configure: |seat, model| {
        let config = json!({"model": "scripted/scripted", "provider": {"scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": format!("{model}/v1"), "apiKey": "none"},
            "models": {"scripted": {"tool_call": true, "attachment": true, "modalities": {"input": ["text", "image"], "output": ["text"]}}},
        }}});
        seat.write(".config/opencode/opencode.json", config.to_string());
    },
    environment: |_| {
        let on = || "1".to_owned();
        vec![("OPENCODE_DISABLE_AUTOUPDATE", on()), ("OPENCODE_DISABLE_MODELS_FETCH", on())]
    },
    says: &["opencode", "run"],
    saw: VisibleResults { errors: false, images: true },
    is_discovering: false,
};

/// opencode, whose command is named beside what the person says.
pub(crate) const OPENCODE_ASK: Client = Client { says: &["opencode", "run", "--command", "ask"], ..OPENCODE };

/// opencode as `ragmaker connect` sets it up.
pub(crate) const OPENCODE_CONNECTED: Client = Client { install: &[("Install", 0)], ..OPENCODE };
