//! The clients: how each is installed into a home of its own, pointed at a model, and run.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use ragmaker_tests::{
    discovery::workspace,
    model::{Heard, Model, Say},
    run::{Project, Tool, executable},
    site::Site,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scripts::Saw;

/// How long a client may take for a whole conversation.
const PATIENCE: Duration = Duration::from_mins(5);

/// A 1 by 1 image.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

/// A project, a site to learn from, and a home that no other client has used.
pub(crate) struct Seat {
    pub(crate) project: Project,
    pub(crate) site: Site,
    /// The domains that the person allows, where not every one is.
    pub(crate) domains: Option<&'static str>,
    home: TempDir,
}

impl Seat {
    pub(crate) fn new() -> Self {
        let project = Project::new();
        project.write("chart.png", PNG);
        // Codex keeps no helpers in a home below the system's temporary folder.
        let home = tempfile::Builder::new().prefix("home-").tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        Self { project, site: Site::start(), domains: None, home: home.expect("target/tmp can be written") }
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    fn write(&self, name: &str, content: &Value) {
        let path = self.home().join(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the home is ours");
        fs::write(path, format!("{content:#}")).expect("the home is ours");
    }

    /// A program of `target/clients`, in this home and project, with nothing of the machine's own
    /// configuration.
    fn client(&self, name: &str) -> Command {
        let program = workspace().join("target/clients/node_modules/.bin").join(name);
        assert!(program.exists(), "{name} is not installed: run `cargo xtask test --clients`");
        let mut command = Command::new(program);
        command.current_dir(self.project.path()).env_clear();
        let tools = executable("ragmaker-mcp").parent().expect("it is in a folder").to_owned();
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(std::iter::once(tools).chain(env::split_paths(&path))).expect("PATH can be joined");
        command.env("PATH", path).env("HOME", self.home()).env("LANG", "C.UTF-8").env("TERM", "dumb");
        for name in ["RAGMAKER_CHROMIUM", "RAGMAKER_CHROMEDRIVER", "TMPDIR", "USER"] {
            if let Some(value) = env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(self.domains.map(|domains| ("RAGMAKER_ALLOWED_DOMAINS", domains)));
        command
    }
}

/// A client, installed and configured in one of the ways that the documentation names.
pub(crate) struct Client {
    /// Installs and configures it for a model at an address.
    install: fn(&Seat, &str),
    /// Starts it with what the person says.
    command: fn(&Seat, &str, &str) -> Command,
    /// What reaches the model through it.
    pub(crate) saw: Saw,
}

impl Client {
    /// Says `prompt` to the client, whose model follows `script`, and returns what the model has
    /// heard in the end.
    pub(crate) fn run(
        &self,
        seat: &Seat,
        prompt: &str,
        script: impl Fn(&Heard) -> Say + Send + Sync + 'static,
    ) -> Heard {
        let model = Model::start(script);
        (self.install)(seat, &model.url());
        let output = Tool::from((self.command)(seat, &model.url(), prompt)).within(PATIENCE).run_raw();
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            output.status.success() && !model.heard().tools.is_empty(),
            "{}\n{}\n{}\n{:#?}",
            output.status,
            said(&output.stdout),
            said(&output.stderr),
            model.requests()
        );
        model.heard()
    }
}

/// Runs a step of an installation, which has to succeed.
fn done(command: Command) {
    let line = format!("{command:?}");
    let output = Tool::from(command).within(PATIENCE).run_raw();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}\n{text}");
}

fn rendered(name: &str) -> PathBuf {
    workspace().join("integrations").join(name)
}

fn gemini_home(seat: &Seat, more: &Value) {
    let mut settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "general": {"enableAutoUpdate": false},
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        settings[key] = value.clone();
    }
    seat.write(".gemini/settings.json", &settings);
}

fn gemini(seat: &Seat, model: &str) -> Command {
    let mut command = seat.client("gemini");
    command
        .env("GEMINI_API_KEY", "none")
        .env("GOOGLE_GEMINI_BASE_URL", model)
        .env("GEMINI_CLI_TRUST_WORKSPACE", "true");
    command
}

fn gemini_says(seat: &Seat, model: &str, prompt: &str) -> Command {
    let mut command = gemini(seat, model);
    command.args(["-m", "gemini-2.5-pro", "-p", prompt]);
    command
}

fn gemini_extended(seat: &Seat, model: &str) {
    gemini_home(seat, &json!({}));
    let mut install = gemini(seat, model);
    install.args(["extensions", "install"]).arg(rendered("gemini-cli/extension")).arg("--consent");
    done(install);
}

/// Gemini CLI with the extension, every call allowed.
pub(crate) const GEMINI: Client = Client {
    install: gemini_extended,
    command: |seat, model, prompt| {
        let mut command = gemini_says(seat, model, prompt);
        command.arg("--yolo");
        command
    },
    saw: Saw { errors: true, images: true },
};

/// Gemini CLI with the extension and the policy that allows what the workflows call.
pub(crate) const GEMINI_POLICY: Client = Client {
    install: |seat, model| {
        gemini_extended(seat, model);
        let policies = seat.home().join(".gemini/policies");
        fs::create_dir_all(&policies).expect("the home is ours");
        fs::copy(rendered("gemini-cli/policies/ragmaker.toml"), policies.join("ragmaker.toml"))
            .expect("it is rendered");
    },
    command: gemini_says,
    saw: Saw { errors: true, images: true },
};

/// Gemini CLI with its discovery command, which has no images.
pub(crate) const GEMINI_DISCOVERY: Client = Client {
    install: |seat, _| {
        let settings = fs::read(rendered("gemini-cli/discovery/settings.json")).expect("it is rendered");
        gemini_home(seat, &serde_json::from_slice(&settings).expect("it is JSON"));
    },
    command: |seat, model, prompt| {
        let mut command = gemini_says(seat, model, prompt);
        command.arg("--yolo");
        command
    },
    saw: Saw { errors: true, images: false },
};

fn claude(seat: &Seat, model: &str) -> Command {
    let mut command = seat.client("claude");
    command
        .env("ANTHROPIC_BASE_URL", model)
        .env("ANTHROPIC_API_KEY", "none")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        // It would begin without a server that a busy machine is slow to start.
        .env("MCP_CONNECTION_NONBLOCKING", "false")
        .env("MCP_CONNECT_TIMEOUT_MS", "60000");
    command
}

/// Claude Code with the server of the plugin's .mcp.json, which the person allows.
pub(crate) const CLAUDE_MCP: Client = Client {
    install: |_, _| {},
    command: |seat, model, prompt| {
        let mut command = claude(seat, model);
        command.args(["-p", prompt, "--strict-mcp-config", "--allowedTools", "mcp__ragmaker__*", "--mcp-config"]);
        command.arg(rendered("claude-code/.mcp.json"));
        command
    },
    saw: Saw { errors: true, images: true },
};

/// Claude Code with the plugin, whose commands allow what they need, and their copies with short names.
pub(crate) const CLAUDE_PLUGIN: Client = Client {
    install: |seat, model| {
        let folder = rendered("claude-code");
        let steps: [&[&str]; 2] = [&["marketplace", "add"], &["install", "ragmaker@ragmaker"]];
        for words in steps {
            let mut install = claude(seat, model);
            install.arg("plugin").args(words);
            if words[0] == "marketplace" {
                install.arg(&folder);
            }
            done(install);
        }
        let commands = seat.home().join(".claude/commands");
        fs::create_dir_all(&commands).expect("the home is ours");
        for name in ["rag.md", "ask.md"] {
            fs::copy(folder.join("commands").join(name), commands.join(name)).expect("it is rendered");
        }
    },
    command: |seat, model, prompt| {
        let mut command = claude(seat, model);
        command.args(["-p", prompt]);
        command
    },
    saw: Saw { errors: true, images: true },
};

/// Codex with the rendered configuration and skills.
pub(crate) const CODEX: Client = Client {
    install: |seat, model| {
        let server = fs::read_to_string(rendered("codex/config.toml")).expect("it is rendered");
        let provider = format!(
            "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n{server}\n[model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{model}/v1\"\nwire_api = \"responses\"\nenv_key = \"MODEL_KEY\"\n"
        );
        for name in ["rag", "ask"] {
            let name = format!(".agents/skills/{name}");
            let skill = seat.home().join(&name);
            fs::create_dir_all(&skill).expect("the home is ours");
            fs::copy(rendered("agents").join(name).join("SKILL.md"), skill.join("SKILL.md")).expect("it is rendered");
        }
        let home = seat.home().join(".codex");
        fs::create_dir_all(&home).expect("the home is ours");
        fs::write(home.join("config.toml"), provider).expect("the home is ours");
    },
    command: |seat, _, prompt| {
        let mut command = seat.client("codex");
        command.env("MODEL_KEY", "none").args(["exec", "--skip-git-repo-check", prompt]);
        command
    },
    saw: Saw { errors: false, images: true },
};

/// opencode with the rendered configuration and commands.
pub(crate) const OPENCODE: Client = Client {
    install: |seat, model| {
        let rendered_config = fs::read(rendered("opencode/opencode.json")).expect("it is rendered");
        let mut config: Value = serde_json::from_slice(&rendered_config).expect("it is JSON");
        config["model"] = "scripted/scripted".into();
        config["provider"] = json!({"scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": format!("{model}/v1"), "apiKey": "none"},
            "models": {"scripted": {"tool_call": true, "attachment": true, "modalities": {"input": ["text", "image"], "output": ["text"]}}},
        }});
        seat.project.write("opencode.json", config.to_string());
        for name in ["rag", "ask"] {
            let name = format!(".opencode/command/{name}.md");
            seat.project.write(&name, fs::read(rendered("opencode").join(&name)).expect("it is rendered"));
        }
    },
    command: |seat, _, prompt| {
        let mut command = seat.client("opencode");
        command.env("OPENCODE_DISABLE_AUTOUPDATE", "1").env("OPENCODE_DISABLE_MODELS_FETCH", "1").arg("run");
        match prompt.strip_prefix('/').and_then(|typed| typed.split_once(' ')) {
            Some((name, words)) => command.args(["--command", name, words]),
            None => command.arg(prompt),
        };
        command
    },
    saw: Saw { errors: false, images: true },
};
