//! The other agents of the agent's benchmark: how each is started with a prompt, and how it reads a file.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Context;
use ragmaker_tests::model::Offered;
use serde_json::{Value, json};

use crate::process::root;

/// Another agent.
pub(super) struct Client {
    pub(super) name: &'static str,
    program: PathBuf,
    arguments: Vec<&'static str>,
    variables: Vec<(&'static str, String)>,
}

impl Client {
    /// Those that are installed: by `cargo xtask test --clients`, and aichat by the command that is printed without it.
    /// `home` gets their configurations, with the model at `url`.
    pub(super) fn installed(home: &Path, url: &str) -> anyhow::Result<Vec<Self>> {
        for (name, text) in configurations(url) {
            let path = home.join(name);
            fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
            fs::write(&path, text)?;
            #[cfg(unix)]
            if name.contains("/bin/") {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
            }
        }
        let clients = root().join("target/clients/node_modules/.bin");
        let aichat = root().join("target/bench/aichat/bin/aichat");
        let all = [
            Self {
                name: "Gemini CLI",
                program: clients.join("gemini"),
                arguments: vec!["--yolo", "--prompt"],
                variables: vec![
                    ("GEMINI_API_KEY", "none".to_owned()),
                    ("GOOGLE_GEMINI_BASE_URL", url.to_owned()),
                    ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
                ],
            },
            Self {
                name: "Codex",
                program: clients.join("codex"),
                arguments: vec!["exec", "--skip-git-repo-check"],
                variables: vec![("MODEL_KEY", "none".to_owned())],
            },
            Self {
                name: "Claude Code",
                program: clients.join("claude"),
                arguments: vec!["--print"],
                variables: vec![
                    ("ANTHROPIC_BASE_URL", url.to_owned()),
                    ("ANTHROPIC_API_KEY", "none".to_owned()),
                    ("DISABLE_AUTOUPDATER", "1".to_owned()),
                    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
                ],
            },
            Self {
                name: "opencode",
                program: clients.join("opencode"),
                arguments: vec!["run"],
                variables: vec![
                    ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
                    ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
                ],
            },
            Self {
                name: "aichat",
                program: aichat,
                arguments: vec![],
                variables: vec![
                    ("AICHAT_CONFIG_DIR", home.join("aichat").to_string_lossy().into_owned()),
                    ("AICHAT_FUNCTIONS_DIR", home.join("aichat/functions").to_string_lossy().into_owned()),
                ],
            },
        ];
        let (there, missing): (Vec<_>, Vec<_>) = all.into_iter().partition(|client| client.program.exists());
        for client in missing {
            println!("{} is not installed: {}", client.name, client.installation());
        }
        Ok(there)
    }

    fn installation(&self) -> &'static str {
        match self.name {
            "aichat" => "cargo install aichat --root target/bench/aichat",
            _ => "cargo xtask test --clients",
        }
    }

    /// Its call with a prompt to be added.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The version that it prints.
    pub(super) fn version(&self, home: &Path) -> String {
        let mut command = Command::new(&self.program);
        command.arg("--version").env("HOME", home).stdin(Stdio::null()).stderr(Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let printed = command.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let printed = printed.unwrap_or_default();
        number(&printed).unwrap_or("of an unknown version").to_owned()
    }
}

/// The version in what a program prints.
fn number(printed: &str) -> Option<&str> {
    printed.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// The files of the home that lead every program to the model at `url`.
fn configurations(url: &str) -> Vec<(&'static str, String)> {
    let gemini = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "general": {"enableAutoUpdate": false},
        // It would end a conversation of so many steps.
        "model": {"name": "gemini-2.5-pro", "disableLoopDetection": true}
    });
    let codex = format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"MODEL_KEY\"\n"
    );
    let compatible = json!({
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": format!("{url}/v1"), "apiKey": "none"},
        "models": {"scripted": {"tool_call": true}}
    });
    let opencode = json!({"model": "scripted/scripted", "provider": {"scripted": compatible}});
    let model = json!({"name": "scripted", "supports_function_calling": true, "max_input_tokens": 1_000_000});
    // YAML takes JSON.
    let aichat = json!({
        "model": "scripted:scripted",
        "function_calling": true,
        "use_tools": "all",
        "clients": [{"type": "openai-compatible", "name": "scripted", "api_base": format!("{url}/v1"),
            "api_key": "none", "models": [model]}]
    });
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let functions = json!([{"name": "read_text", "description": "Reads a file.", "parameters": parameters}]);
    let script = "#!/bin/sh\npath=${1#*:\\\"}\ncat \"${path%\\\"*}\" > \"$LLM_OUTPUT\"\n";
    vec![
        (".gemini/settings.json", gemini.to_string()),
        (".codex/config.toml", codex),
        (".config/opencode/opencode.json", opencode.to_string()),
        ("aichat/config.yaml", aichat.to_string()),
        ("aichat/functions/functions.json", functions.to_string()),
        ("aichat/functions/bin/read_text", script.to_owned()),
    ]
}

/// The call with which a program reads the file `path`, by the tool that it offers for that.
pub(super) fn reading(offered: &[Offered], path: &Path) -> Option<(Offered, Value)> {
    let name = path.file_name()?.to_string_lossy();
    let path = path.to_string_lossy();
    let line = format!("cat {name}");
    let known = [
        ("read_file", json!({"file_path": path})),
        ("Read", json!({"file_path": path})),
        ("read", json!({"filePath": path})),
        ("read_text", json!({"path": path})),
        ("exec_command", json!({"cmd": line})),
        ("shell_command", json!({"command": line})),
        ("shell", json!({"command": ["cat", name]})),
    ];
    known
        .into_iter()
        .find_map(|(tool, arguments)| Some((offered.iter().find(|offered| offered.name == tool)?.clone(), arguments)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_first_word_that_begins_with_a_digit() {
        for (printed, version) in
            [("0.30.0\n", Some("0.30.0")), ("codex-cli 0.99.1 (x86)", Some("0.99.1")), ("v2 unknown", None), ("", None)]
        {
            assert_eq!(number(printed), version, "{printed:?}");
        }
    }

    #[test]
    fn a_file_is_read_by_the_tool_that_a_program_offers() {
        let offered = |names: &[&str]| {
            let tools: Vec<_> =
                names.iter().map(|name| Offered { name: (*name).to_owned(), namespace: None }).collect();
            reading(&tools, Path::new("/project/small-1.txt")).map(|(tool, arguments)| (tool.name, arguments))
        };
        let path = json!({"file_path": "/project/small-1.txt"});
        assert_eq!(offered(&["shell", "write_file", "read_file"]), Some(("read_file".to_owned(), path)));
        // A command starts in the project.
        let line = json!({"command": ["cat", "small-1.txt"]});
        assert_eq!(offered(&["shell"]), Some(("shell".to_owned(), line)));
        assert_eq!(offered(&["another_shell"]), None);
    }

    #[test]
    fn every_configuration_that_names_a_model_leads_to_the_scripted_one() {
        let files = configurations("http://127.0.0.1:7");
        for name in [".codex/config.toml", ".config/opencode/opencode.json", "aichat/config.yaml"] {
            let (_, text) = files.iter().find(|(file, _)| *file == name).unwrap();
            assert!(text.contains("\"http://127.0.0.1:7/v1\"") && text.contains("scripted"), "{name}: {text}");
        }
    }
}
