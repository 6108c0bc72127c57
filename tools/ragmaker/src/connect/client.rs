//! The clients: where each keeps its configuration, and what is in it.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use ragmaker_clients::{NAME, approved_tools, claude_command, gemini_command, markdown_command, skill, variables};
use ragmaker_registry::{WORKFLOWS, Workflow};
use ragmaker_tool::Error;
use serde_json::{Value, json};

use super::{CANNOT_WRITE, Planned, Server};

/// A client.
pub(crate) struct Client {
    /// The name, as in `ragmaker connect NAME`.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// Its programs on PATH.
    pub(crate) programs: &'static [&'static str],
    /// How a person starts the workflows in it.
    pub(crate) use_of_workflows: &'static str,
    files: fn(&Folders, &Server) -> Vec<Planned>,
}

/// The clients.
pub(crate) const CLIENTS: [Client; 7] = [
    Client {
        name: "gemini",
        title: "Gemini CLI",
        programs: &["gemini"],
        use_of_workflows: "Then type /rag SOURCE or /ask QUESTION.",
        files: gemini,
    },
    Client {
        name: "claude",
        title: "Claude Code",
        programs: &["claude"],
        use_of_workflows: "Then type /rag SOURCE or /ask QUESTION.",
        files: claude,
    },
    Client {
        name: "codex",
        title: "Codex",
        programs: &["codex"],
        use_of_workflows: "Then type $rag SOURCE or $ask QUESTION.",
        files: codex,
    },
    Client {
        name: "opencode",
        title: "opencode",
        programs: &["opencode"],
        use_of_workflows: "Then type /rag SOURCE or /ask QUESTION.",
        files: opencode,
    },
    Client {
        name: "vscode",
        title: "Visual Studio Code",
        programs: &["code"],
        use_of_workflows: "Then type /mcp.ragmaker.rag or /mcp.ragmaker.ask in the chat.",
        files: vscode,
    },
    Client {
        name: "cursor",
        title: "Cursor",
        programs: &["cursor", "cursor-agent"],
        use_of_workflows: "Then choose the prompt rag or ask of ragmaker in the chat.",
        files: cursor,
    },
    Client {
        name: "zed",
        title: "Zed",
        programs: &["zed", "zeditor"],
        use_of_workflows: "Then type /rag or /ask in the agent's panel.",
        files: zed,
    },
];

impl Client {
    /// The files that connect it, the configuration of the server first.
    pub(crate) fn files(&self, folders: &Folders, server: &Server) -> Vec<Planned> {
        (self.files)(folders, server)
    }
}

/// The folders of the user.
pub(crate) struct Folders {
    home: PathBuf,
    /// The folder of configurations: `~/.config`, or the system's own.
    config: PathBuf,
}

impl Folders {
    /// Those of the user of this process.
    pub(crate) fn of_user() -> Result<Self, Error> {
        let home = env::home_dir().filter(|home| home.is_absolute());
        let home = home.ok_or_else(|| {
            CANNOT_WRITE
                .error("the home folder is not known")
                .remedy("Set HOME to the absolute path of your home folder.")
        })?;
        let config = if cfg!(windows) { absolute("APPDATA") } else { absolute("XDG_CONFIG_HOME") };
        let config = config.unwrap_or_else(|| home.join(".config"));
        Ok(Self { home, config })
    }
}

/// The folder that the variable `name` names.
fn absolute(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// A server that is started as a process, as most clients describe one.
fn process(server: &Server, prompts: bool) -> Value {
    json!({"command": server.command, "args": server.arguments(prompts)})
}

/// One file for each workflow.
fn workflows(path: impl Fn(&str) -> PathBuf, text: impl Fn(&Workflow) -> String) -> impl Iterator<Item = Planned> {
    WORKFLOWS.iter().map(move |workflow| Planned::file(path(workflow.name), &text(workflow)))
}

fn gemini(folders: &Folders, server: &Server) -> Vec<Planned> {
    let folder = folders.home.join(".gemini");
    let settings = Planned::json(folder.join("settings.json"), ["mcpServers", NAME], process(server, false));
    let commands = workflows(|name| folder.join("commands").join(format!("{name}.toml")), gemini_command);
    [settings].into_iter().chain(commands).collect()
}

fn claude(folders: &Folders, server: &Server) -> Vec<Planned> {
    let named = absolute("CLAUDE_CONFIG_DIR");
    let settings = named.as_ref().unwrap_or(&folders.home).join(".claude.json");
    let folder = named.unwrap_or_else(|| folders.home.join(".claude"));
    let mut value = process(server, false);
    value["type"] = "stdio".into();
    let settings = Planned::json(settings, ["mcpServers", NAME], value);
    let path = |name: &str| folder.join("commands").join(format!("{name}.md"));
    [settings].into_iter().chain(workflows(path, |workflow| claude_command(workflow, NAME))).collect()
}

fn codex(folders: &Folders, server: &Server) -> Vec<Planned> {
    let folder = absolute("CODEX_HOME").unwrap_or_else(|| folders.home.join(".codex"));
    let mut value = process(server, false);
    value["env_vars"] = variables();
    let approved = approved_tools().into_iter().map(|tool| (tool, json!({"approval_mode": "approve"})));
    value["tools"] = Value::Object(approved.collect());
    let settings = Planned::toml(folder.join("config.toml"), ["mcp_servers", NAME], value);
    let path = |name: &str| folders.home.join(".agents/skills").join(name).join("SKILL.md");
    [settings].into_iter().chain(workflows(path, skill)).collect()
}

fn opencode(folders: &Folders, server: &Server) -> Vec<Planned> {
    // opencode keeps to ~/.config on every system.
    let folder = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| folders.home.join(".config")).join("opencode");
    let mut command = vec![server.command.clone()];
    command.extend(server.arguments(false));
    let value = json!({"type": "local", "command": command, "enabled": true});
    let settings = Planned::json(existing(&folder, ["opencode.jsonc", "opencode.json"]), ["mcp", NAME], value);
    let commands =
        workflows(|name| folder.join("command").join(format!("{name}.md")), |workflow| markdown_command(workflow, ""));
    [settings].into_iter().chain(commands).collect()
}

fn vscode(folders: &Folders, server: &Server) -> Vec<Planned> {
    let folder = if cfg!(target_os = "macos") {
        folders.home.join("Library/Application Support")
    } else {
        folders.config.clone()
    };
    let mut value = process(server, true);
    value["type"] = "stdio".into();
    vec![Planned::json(folder.join("Code/User/mcp.json"), ["servers", NAME], value)]
}

fn cursor(folders: &Folders, server: &Server) -> Vec<Planned> {
    vec![Planned::json(folders.home.join(".cursor/mcp.json"), ["mcpServers", NAME], process(server, true))]
}

fn zed(folders: &Folders, server: &Server) -> Vec<Planned> {
    let folder = if cfg!(windows) {
        folders.config.join("Zed")
    } else if cfg!(target_os = "macos") {
        folders.home.join(".config/zed")
    } else {
        folders.config.join("zed")
    };
    vec![Planned::json(folder.join("settings.json"), ["context_servers", NAME], process(server, true))]
}

/// The file of `names` in `folder` that names this program, else the first that exists, else the last.
fn existing<const N: usize>(folder: &Path, names: [&str; N]) -> PathBuf {
    let paths = names.map(|name| folder.join(name));
    let names_it = |path: &&PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains(NAME));
    let found = paths.iter().find(names_it).or(paths.iter().find(|path| path.exists())).or(paths.last());
    found.cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{
        super::{record::Records, write::write_all},
        *,
    };

    fn folders(home: &Path) -> Folders {
        Folders { home: home.to_owned(), config: home.join(".config") }
    }

    #[test]
    fn every_client_is_configured_below_the_home_and_first_with_the_server() {
        let home = tempfile::tempdir().unwrap();
        let server = Server::of_process(false).unwrap();
        // A person's own variables move the files of these clients.
        let is_moved = |variables: &[&str]| variables.iter().any(|name| absolute(name).is_some());
        for client in &CLIENTS {
            if is_moved(&["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"]) {
                continue;
            }
            let records = Records::new(home.path().join("ragmaker/connect"));
            let planned = || client.files(&folders(home.path()), &server);
            let changes = |remove| {
                let changes = planned().into_iter().filter_map(|file| file.change(&records, remove, false).unwrap());
                let changes: Vec<_> = changes.collect();
                write_all(&changes, remove, &records).unwrap();
                changes.len()
            };
            let count = planned().len();
            // A second run has nothing to write, and its removal leaves nothing of it.
            assert_eq!((changes(false), changes(false)), (count, 0), "{}", client.name);
            let commands: Vec<_> = planned().iter().map(|file| file.command().unwrap()).collect();
            assert_eq!(commands[0].as_deref(), Some(server.command.as_str()), "{}", client.name);
            assert!(commands[1..].iter().all(Option::is_none), "{}", client.name);
            assert_eq!((changes(true), changes(true)), (count, 0), "{}", client.name);
            assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "{}", client.name);
        }
    }

    #[test]
    fn clients_have_names_of_their_own() {
        let names: BTreeSet<_> = CLIENTS.iter().map(|client| client.name).collect();
        assert_eq!(names.len(), CLIENTS.len());
        assert!(CLIENTS.iter().all(|client| !client.programs.is_empty() && client.use_of_workflows.contains("rag")));
    }

    #[test]
    fn the_file_that_names_this_program_is_changed_before_another() {
        let folder = tempfile::tempdir().unwrap();
        let chosen = || existing(folder.path(), ["a.jsonc", "a.json"]).file_name().unwrap().to_owned();
        assert_eq!(chosen(), "a.json");
        fs::write(folder.path().join("a.jsonc"), "{}").unwrap();
        assert_eq!(chosen(), "a.jsonc");
        fs::write(folder.path().join("a.json"), format!("{{\"{NAME}\": 1}}")).unwrap();
        assert_eq!(chosen(), "a.json");
    }
}
