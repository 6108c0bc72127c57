//! Loading the configuration: finds the files and applies the precedence.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use ragmaker_project::{CONFIGURATION, secrets::is_secret_variable};
use ragmaker_tool::Error;
use toml::de::DeValue;

use crate::{
    Agent, Approve, CONFIG_INVALID, Catalog, Commands, ConfigKey, Environment, KEY_VARIABLES, KEYS, McpServer, Origin,
    Provider, Redactor, SearchEngine, Tools,
    file::{self, Setting, Settings},
    keys::{self, AZURE_ENDPOINT},
    value::Value,
};

/// The sources of a configuration, in addition to the project's own files.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A file in place of the project's and the user's.
    pub file: Option<PathBuf>,
    /// The user's configuration folder, see [`user_folder`].
    pub user_folder: Option<PathBuf>,
    /// The environment.
    pub environment: Environment,
    /// The keys and values that flags set.
    pub flags: Vec<(&'static str, String)>,
}

impl Options {
    /// The options for this process and the project at `root`, with `file` in place of the project's and the user's
    /// file.
    ///
    /// # Errors
    /// [`CONFIG_INVALID`] for a `.env` that cannot be read.
    pub fn of_process(root: &Path, file: Option<&str>) -> Result<Self, Error> {
        let (file, environment) = (file.map(PathBuf::from), Environment::read(root)?);
        Ok(Self { file, user_folder: user_folder(), environment, flags: vec![] })
    }
}

/// The user's configuration folder for the project's programs: `XDG_CONFIG_HOME/ragmaker`, else
/// `~/.config/ragmaker`; on Windows `APPDATA\ragmaker`.
pub fn user_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = if cfg!(windows) { variable("APPDATA") } else { variable("XDG_CONFIG_HOME") };
    let base = base.or_else(|| std::env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(".config")));
    base.map(|base| base.join("ragmaker"))
}

/// The configuration.
#[derive(Clone, Debug)]
pub struct Config {
    settings: Settings,
    environment: Environment,
    pub(crate) root: PathBuf,
    pub(crate) user_folder: Option<PathBuf>,
}

impl Config {
    /// The configuration of the project at `root`.
    ///
    /// # Errors
    /// [`CONFIG_INVALID`], with the file, the line and the key, or the variable.
    pub fn load(root: &Path, options: &Options) -> Result<Self, Error> {
        let mut settings = Settings::new();
        if let Some(path) = &options.file {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let Some(text) = file::text(&path)? else {
                let error = CONFIG_INVALID.error(format!("{} does not exist", path.display()));
                let error = error.remedy("Give a file that exists, or leave --config out.");
                return Err(error.detail("file", path.to_string_lossy()));
            };
            settings = resolved(file::settings(&path, &text, false)?, &path);
        } else {
            let user = options.user_folder.iter().map(|folder| (folder.join(CONFIGURATION), false));
            for (path, in_project) in user.chain([(root.join(CONFIGURATION), true)]) {
                if let Some(text) = file::text(&path)? {
                    let more = resolved(file::settings(&path, &text, in_project)?, &path);
                    // A server is one thing: its command from here and its arguments from there would be none.
                    settings.retain(|name, _| {
                        server(name).is_none_or(|own| !more.keys().any(|name| server(name) == Some(own)))
                    });
                    settings.extend(more);
                }
            }
        }
        for key in KEYS {
            for variable in key.variables {
                if let Some((text, origin)) = options.environment.get(variable) {
                    let value = key.kind.of_text(text).ok_or_else(|| not_of_kind(key, variable))?;
                    settings.insert(key.name.to_owned(), Setting { value, origin });
                    break;
                }
            }
        }
        for (name, text) in &options.flags {
            let key = keys::find(name).ok_or_else(|| CONFIG_INVALID.error(format!("there is no key {name:?}")))?;
            let value = key.kind.of_text(text).ok_or_else(|| not_of_kind(key, name))?;
            settings.insert((*name).to_owned(), Setting { value, origin: Origin::Flag });
        }
        let (environment, user_folder) = (options.environment.clone(), options.user_folder.clone());
        Ok(Self { settings, environment, root: root.to_owned(), user_folder })
    }

    /// The keys that the project's own files set and that widen what can be reached, with their origins. Whoever
    /// wrote the project wrote these: a person confirms them before they take effect.
    pub fn untrusted_settings(&self) -> Vec<(&str, Origin)> {
        let widens = |name: &str| keys::find(name).is_some_and(|key| key.widens);
        let settings = self.settings.iter().filter(|(name, setting)| widens(name) && setting.origin.is_in_project());
        settings.map(|(name, setting)| (name.as_str(), setting.origin.clone())).chain(self.azure_of_project()).collect()
    }

    /// Azure's own variable for the address, where the project's `.env` sets it and it counts.
    fn azure_of_project(&self) -> Option<(&str, Origin)> {
        let counts =
            self.choice::<Provider>("model.provider") == Provider::Azure && self.text("model.base_url").is_empty();
        let (_, origin) =
            self.environment.get(AZURE_ENDPOINT).filter(|(_, origin)| counts && origin.is_in_project())?;
        Some(("model.base_url", origin))
    }

    /// The project root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The origin of a key's setting.
    pub fn origin(&self, name: &str) -> &Origin {
        self.settings.get(name).map_or(&Origin::Default, |setting| &setting.origin)
    }

    /// The settings of the agent.
    pub fn agent(&self) -> Agent {
        let approve = self.choice("agent.approve");
        // A project cannot give itself what a person has to allow.
        let gives_itself = approve == Approve::All && self.origin("agent.approve").is_in_project();
        Agent {
            max_steps: self.whole("agent.max_steps"),
            think_required: self.is_on("agent.think_required"),
            max_conversation_turns: self.whole("agent.max_conversation_turns"),
            summary_conversation_turns: self.whole("agent.summary_conversation_turns"),
            approve: if gives_itself { Approve::Ask } else { approve },
            language: self.choice("model.language"),
            context_tokens: match self.whole("model.context_tokens") {
                0 => self.choice::<Provider>("model.provider").context_tokens(),
                tokens => tokens,
            },
        }
    }

    /// The settings for commands.
    pub fn commands(&self) -> Commands {
        Commands {
            allow: self.texts("command.allow"),
            timeout_s: self.whole("command.timeout_s"),
            network: self.is_on("command.network"),
        }
    }

    /// The settings for tools.
    pub fn tools(&self) -> Tools {
        let catalogs = match self.get("tools.catalogs") {
            Some(Value::Catalogs(all)) => all.clone(),
            _ => vec![],
        };
        Tools { offered: self.texts("tools.offered"), catalogs, timeout_s: self.whole("tools.timeout_s") }
    }

    /// The MCP servers, by name.
    ///
    /// # Errors
    /// [`CONFIG_INVALID`] for a server without a command, and for a variable that is not set.
    pub fn mcp_servers(&self) -> Result<Vec<McpServer>, Error> {
        let mut names: Vec<_> = self.settings.keys().filter_map(|name| server(name)).collect();
        names.dedup();
        let server = |name: &str| {
            let key = |last: &str| format!("mcp.servers.{name}.{last}");
            let command = self.text(&key("command"));
            if command.is_empty() {
                let key = key("command");
                return Err(CONFIG_INVALID.error(format!("{key} is missing")).detail("key", key));
            }
            let (args, env) = (self.texts(&key("args")), self.pairs(&key("env"))?);
            let confined = self.is_on(&key("confined"));
            Ok(McpServer { name: name.to_owned(), command, args, env, confined })
        };
        names.into_iter().map(server).collect()
    }

    /// Whether requests, answers and decisions are logged.
    pub fn debug(&self) -> bool {
        self.is_on("log.debug")
    }

    /// All API keys of the configuration and of `.env`, for their removal from texts that are written.
    pub fn redactor(&self) -> Redactor {
        let mut redactor = Redactor::default();
        let named = ["model.api_key_env", "search.api_key_env"].map(|key| self.text(key));
        let named = named.into_iter().chain([self.embeddings_variable()]).collect::<Vec<_>>();
        let own = KEY_VARIABLES.iter().flat_map(|(_, variables)| *variables).copied();
        for variable in own.chain(named.iter().map(String::as_str)) {
            if let Some(value) = self.variable(variable) {
                redactor.add_variable(value);
            }
        }
        let dotenv = self.environment.dotenv().iter();
        for value in dotenv.filter(|(name, value)| is_secret_variable(name, value)).map(|(_, value)| value) {
            redactor.add_variable(value);
        }
        let servers = self.settings.keys().filter(|name| server(name).is_some());
        for name in servers.map(String::as_str).chain(["model.headers", "model.query"]) {
            redactor.add_pairs(&self.pairs(name).unwrap_or_default());
        }
        redactor
    }

    /// The environment variables that contain keys, of every service. A process is started without those that it does
    /// not need.
    pub fn key_variables(&self) -> Vec<String> {
        let own = KEY_VARIABLES.iter().flat_map(|(_, names)| *names).map(|name| (*name).to_owned());
        let configured = ["model.api_key_env", "search.api_key_env"].map(|key| self.text(key));
        let mut names: Vec<_> = own.chain(configured).chain([self.embeddings_variable()]).collect();
        let servers = self.settings.keys().map(String::as_str).filter(|name| server(name).is_some());
        for (_, text) in servers.chain(["model.headers", "model.query"]).flat_map(|name| self.unfilled(name)) {
            let parts = text.split("${").skip(1).filter_map(|part| part.split_once('}'));
            names.extend(parts.map(|(name, _)| name.to_owned()));
        }
        names.retain(|name| !name.is_empty());
        names.sort();
        names.dedup();
        names
    }

    /// Those that hold the keys of search engines.
    pub fn search_variables(&self) -> Vec<String> {
        let engines = KEY_VARIABLES.iter().filter(|(service, _)| SearchEngine::NAMES.contains(service));
        let own = engines.flat_map(|(_, names)| *names).map(|name| (*name).to_owned());
        own.chain([self.text("search.api_key_env")]).filter(|name| !name.is_empty()).collect()
    }

    /// The value of an environment variable of the process or the project's `.env`; `None` if it is empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(|(value, _)| value)
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.settings.get(name).map(|setting| &setting.value)
    }

    /// The value of a key, or its default.
    fn value(&self, name: &str) -> Value {
        let default = || keys::find(name).and_then(default);
        self.get(name).cloned().or_else(default).unwrap_or_else(|| Value::Text(String::new()))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        match self.value(name) {
            Value::Text(text) => text,
            _ => String::new(),
        }
    }

    pub(crate) fn whole(&self, name: &str) -> u64 {
        match self.value(name) {
            Value::Whole(number) => number,
            _ => 0,
        }
    }

    pub(crate) fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            Value::Number(number) => number,
            _ => 0.0,
        }
    }

    fn is_on(&self, name: &str) -> bool {
        self.value(name) == Value::Switch(true)
    }

    fn texts(&self, name: &str) -> Vec<String> {
        match self.value(name) {
            Value::Texts(all) => all,
            _ => vec![],
        }
    }

    /// The choice of a key.
    ///
    /// # Panics
    /// Where the table of keys has other choices than the type; a test reads every default.
    pub(crate) fn choice<T: FromStr<Err = String>>(&self, name: &str) -> T {
        self.text(name).parse().unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A table of texts, with the variables that they name.
    pub(crate) fn pairs(&self, name: &str) -> Result<Vec<(String, String)>, Error> {
        let filled = |(own, text): (String, String)| Ok((own, self.filled(name, &text)?));
        self.unfilled(name).into_iter().map(filled).collect()
    }

    /// A table of texts as it was written.
    fn unfilled(&self, name: &str) -> Vec<(String, String)> {
        match self.value(name) {
            Value::Pairs(pairs) => pairs,
            _ => vec![],
        }
    }

    /// `text` with the value of NAME in place of `${NAME}`.
    fn filled(&self, key: &str, text: &str) -> Result<String, Error> {
        let (mut out, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("${") {
            let Some((variable, after)) = after.split_once('}') else { break };
            let value = self.variable(variable).ok_or_else(|| {
                let error =
                    CONFIG_INVALID.error(format!("{key} names the environment variable {variable}, which is not set"));
                error
                    .detail("key", key)
                    .detail("variable", variable)
                    .remedy(format!("Set {variable}, in .env or the environment."))
            })?;
            out = out + before + value;
            rest = after;
        }
        Ok(out + rest)
    }
}

/// The default of a key.
pub(crate) fn default(key: &ConfigKey) -> Option<Value> {
    key.kind.of_toml(DeValue::parse(key.default).ok()?.get_ref())
}

/// The name of the server that a key is about.
fn server(name: &str) -> Option<&str> {
    name.strip_prefix("mcp.servers.")?.rsplit_once('.').map(|(server, _)| server)
}

/// The settings of the file at `path`, whose paths start at its folder.
fn resolved(mut settings: Settings, path: &Path) -> Settings {
    if let Some(Setting { value: Value::Catalogs(catalogs), .. }) = settings.get_mut("tools.catalogs") {
        for Catalog { file, .. } in catalogs.iter_mut().filter(|catalog| !catalog.file.is_empty()) {
            let joined = path.parent().unwrap_or(Path::new(".")).join(&*file);
            *file = joined.to_string_lossy().into_owned();
        }
    }
    settings
}

fn not_of_kind(key: &ConfigKey, name: &str) -> Error {
    // The value may be a key that stands in the wrong place.
    CONFIG_INVALID
        .error(format!("{name} has to be {}", key.kind.expected()))
        .remedy(format!("Set {name} to {}, or leave it out: the default is {}.", key.kind.expected(), key.default))
        .detail("key", key.name)
        .detail("variable", name)
}
