//! Tests of the table of keys and of the precedence.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use ragmaker_project::CONFIGURATION;

use super::*;

struct Case {
    project: tempfile::TempDir,
    user: tempfile::TempDir,
}

impl Case {
    fn new(project: &str, user: &str) -> Self {
        let case = Self { project: tempfile::tempdir().unwrap(), user: tempfile::tempdir().unwrap() };
        for (folder, text) in [(&case.project, project), (&case.user, user)] {
            if !text.is_empty() {
                fs::write(folder.path().join(CONFIGURATION), text).unwrap();
            }
        }
        case
    }

    fn options(&self, environment: &[(&str, &str)]) -> Options {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Options {
            user_folder: Some(self.user.path().to_owned()),
            environment: Environment::of(environment, self.project.path()).unwrap(),
            ..Options::default()
        }
    }

    fn load(&self, environment: &[(&str, &str)]) -> Result<Config, ragmaker_tool::Error> {
        Config::load(self.project.path(), &self.options(environment))
    }
}

#[test]
fn every_default_is_a_value_of_its_key() {
    let names: BTreeSet<_> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(names.len(), KEYS.len());
    for key in KEYS {
        let is_required_text = key.default == "\"\"";
        let default = load::default(key);
        assert!(default.is_some() || is_required_text, "{}: {}", key.name, key.default);
    }
    // The choices are those of the types.
    let config = Case::new("", "").load(&[]).unwrap();
    let agent = config.agent();
    assert_eq!((agent.max_steps, agent.think_required, agent.approve), (50, true, Approve::Ask));
    assert_eq!((agent.max_conversation_turns, agent.summary_conversation_turns), (20, 6));
    assert_eq!(agent.language, Language::Japanese);
    assert_eq!(config.commands().timeout_s, 120);
    assert!(config.mcp_servers().unwrap().is_empty() && config.tools().catalogs.is_empty() && !config.debug());
    for names in [Provider::NAMES, Protocol::NAMES, SearchEngine::NAMES] {
        assert!(KEYS.iter().any(|key| key.kind == ValueKind::Choice(names)));
    }
}

#[test]
fn a_context_window_is_known_without_being_configured() {
    let window = |text: &str, environment: &[(&str, &str)]| {
        Case::new(text, "").load(environment).unwrap().agent().context_tokens
    };
    let provider = |name: &str| window("", &[("RAGMAKER_PROVIDER", name)]);
    let documented = KEYS.iter().find(|key| key.name == "model.context_tokens").unwrap().meaning;
    for (name, tokens, spelled) in [
        ("gemini", 1_000_000, "1,000,000"),
        ("anthropic", 200_000, "200,000"),
        ("openai", 128_000, "128,000"),
        ("azure", 128_000, "128,000"),
        ("compatible", 32_000, "32,000"),
    ] {
        assert_eq!(provider(name), tokens);
        assert!(documented.contains(name) && documented.contains(spelled), "{documented}");
    }
    assert_eq!(window("[model]\nprovider = 'openai'\ncontext_tokens = 8192", &[]), 8_192);
}

#[test]
fn flags_come_before_the_environment_and_it_before_the_files() {
    let case =
        Case::new("[agent]\nmax_steps = 7", "[agent]\nmax_steps = 8\nmax_conversation_turns = 9\n[log]\ndebug = true");
    fs::write(case.project.path().join(".env"), "MAX_CONVERSATION_TURNS=3\nRAGMAKER_DEBUG=1\n").unwrap();
    let mut options = case.options(&[("RAGMAKER_DEBUG", "0"), ("RAGMAKER_MODEL", "  ")]);
    let config = Config::load(case.project.path(), &options).unwrap();
    assert_eq!((config.agent().max_steps, config.agent().max_conversation_turns), (7, 3));
    assert!(!config.debug());
    assert!(config.origin("agent.max_steps").is_in_project());
    options.flags = vec![("agent.max_steps", "1".to_owned())];
    assert_eq!(Config::load(case.project.path(), &options).unwrap().agent().max_steps, 1);
    // Of two variables the first counts.
    assert!(!case.load(&[("DEBUG_MODE", "1"), ("RAGMAKER_DEBUG", "0")]).unwrap().debug());
    // A file that is named stands for both.
    options.file = Some(case.user.path().join(CONFIGURATION));
    options.flags.clear();
    assert_eq!(Config::load(case.project.path(), &options).unwrap().agent().max_steps, 8);
    options.file = Some("nowhere.toml".into());
    assert!(Config::load(case.project.path(), &options).unwrap_err().is(CONFIG_INVALID));
}

#[test]
fn a_mistake_is_named_with_its_line_and_never_with_its_value() {
    for (text, line, key, remedy) in [
        ("[model]\n\nnam = \"x\"", 3, "model.nam", "model.name"),
        ("[agent]\nname = \"x\"", 2, "agent.name", "model.name"),
        ("[modell]\nname = \"x\"", 1, "modell", ""),
        ("name = 1", 1, "name", "model.name"),
        ("[model]\napi_key = \"sk-secret-1\"", 2, "model.api_key", "api_key_env"),
        ("[model]\napi_key_env = \"sk-secret-1\"", 2, "model.api_key_env", "not the key"),
        ("[model]\ntimeout_s = 0", 2, "model.timeout_s", "1 to 3600"),
        ("[model]\nprovider = \"sk-secret-1\"", 2, "model.provider", "gemini"),
        ("[agent]\nmax_steps = \"7\"", 2, "agent.max_steps", "whole number"),
        ("[model.headers]\na = 1", 1, "model.headers", "table of texts"),
        ("model = 7", 1, "model", ""),
        ("[mcp.servers.x]\ncommand = 1", 2, "mcp.servers.x.command", "text"),
        ("[mcp.servers]\nx = 1", 2, "mcp.servers.x", ""),
        ("[tools]\ncatalogs = [\"a\", {call = [\"b\"]}]", 2, "tools.catalogs", "paths"),
    ] {
        let error = Case::new(text, "").load(&[]).unwrap_err();
        assert!(error.is(CONFIG_INVALID), "{text}: {error}");
        assert_eq!((&error.details()["line"], &error.details()["key"]), (&line.into(), &key.into()), "{text}: {error}");
        let all = format!("{error:?}");
        assert!(all.contains(remedy) && !all.contains("secret"), "{text}: {all}");
    }
    let error = Case::new("[model]\nheaders = {a = \"sk-secret-1\"", "").load(&[]).unwrap_err();
    assert!(error.details()["line"] == 2 && !format!("{error:?}").contains("secret"), "{error:?}");
    let error = Case::new("", "").load(&[("RAGMAKER_PROVIDER", "sk-secret-1")]).unwrap_err();
    assert_eq!(error.details()["variable"], "RAGMAKER_PROVIDER");
    assert!(!format!("{error:?}").contains("secret"));
}

#[test]
fn a_missing_key_is_named() {
    let missing = |project: &str, environment: &[(&str, &str)]| {
        let config = Case::new(project, "").load(environment).unwrap();
        let error = config.model().unwrap_err();
        assert!(error.is(MODEL_NOT_CONFIGURED), "{error}");
        ["key", "variable"].map(|name| error.details()[name].as_str().unwrap().to_owned())
    };
    assert_eq!(missing("", &[("GEMINI_API_KEY", "k")]), ["model.name", "RAGMAKER_MODEL"]);
    assert_eq!(missing("model.name = 'm'", &[]), ["model.api_key_env", "GEMINI_API_KEY"]);
    assert_eq!(missing("[model]\nname = 'm'\nprovider = 'azure'", &[]), ["model.base_url", "AZURE_OPENAI_ENDPOINT"]);
    let own = "[model]\nname = 'm'\napi_key_env = 'MINE'";
    assert_eq!(missing(own, &[("GEMINI_API_KEY", "k")]), ["model.api_key_env", "MINE"]);

    let model = |project: &str, environment: &[(&str, &str)]| Case::new(project, "").load(environment).unwrap().model();
    let google = model("model.name = 'm'", &[("GOOGLE_API_KEY", "k-123456")]).unwrap();
    assert_eq!((google.key.value(), google.key_variable.as_deref()), ("k-123456", Some("GOOGLE_API_KEY")));
    assert!(!format!("{google:?}").contains("k-123456"));
    let ollama = model("[model]\nname = 'm'\nprovider = 'compatible'", &[("OPENAI_API_KEY", "k")]).unwrap();
    assert!(ollama.key.is_empty() && ollama.base_url.is_empty());
    let azure = [("AZURE_OPENAI_ENDPOINT", "https://x"), ("AZURE_OPENAI_API_KEY", "k")];
    assert_eq!(model("[model]\nname = 'm'\nprovider = 'azure'", &azure).unwrap().base_url, "https://x");
}

#[test]
fn a_search_engine_gets_its_own_key_alone() {
    let case = Case::new("[search]\nengine = 'tavily'\napi_key_env = 'MINE'\nbase_url = 'http://t'", "");
    let config = case.load(&[("MINE", "a"), ("BRAVE_API_KEY", "b")]).unwrap();
    let tavily = config.search(None).unwrap();
    assert_eq!((tavily.key.value(), &*tavily.base_url), ("a", "http://t"));
    let brave = config.search(Some(SearchEngine::Brave)).unwrap();
    assert_eq!((brave.key.value(), &*brave.base_url), ("b", ""));
    for (engine, key) in [(SearchEngine::Searxng, "search.base_url"), (SearchEngine::Google, "search.google_engine_id")]
    {
        let error = config.search(Some(engine)).unwrap_err();
        assert!(error.is(SEARCH_NOT_CONFIGURED) && error.details()["key"] == key, "{error}");
    }
}

#[test]
fn variables_stand_in_headers_and_are_blanked() {
    let text = "[model]\nprovider = 'compatible'\nname = 'm'\nheaders = {x-auth = 'Token ${MY_KEY}!', b = '$x ${'}\n\
        [mcp.servers.one]\ncommand = 'serve'\nargs = ['--a']\nenv = {TOKEN = '${MY_KEY}'}";
    let config = Case::new(text, "").load(&[("MY_KEY", "secret-1"), ("TAVILY_API_KEY", "tvly-123")]).unwrap();
    let headers = config.model().unwrap().headers;
    assert_eq!(headers[1].1, "Token secret-1!");
    assert_eq!(headers[0].1, "$x ${");
    let servers = config.mcp_servers().unwrap();
    assert_eq!((&*servers[0].name, &*servers[0].command, &*servers[0].env[0].1), ("one", "serve", "secret-1"));
    assert!(!format!("{servers:?}{config:?}").contains("secret-1"));
    assert_eq!(config.redactor().redacted("secret-1 tvly-123 x"), "[key] [key] x");
    let variables = config.key_variables();
    for name in ["MY_KEY", "GEMINI_API_KEY", "TAVILY_API_KEY"] {
        assert!(variables.contains(&name.into()), "{variables:?}");
    }
    assert!(config.search_variables().contains(&"TAVILY_API_KEY".into()));
    assert!(!config.search_variables().contains(&"GEMINI_API_KEY".into()));
    let error = Case::new(text, "").load(&[]).unwrap().model().unwrap_err();
    assert!(error.is(CONFIG_INVALID) && error.details()["variable"] == "MY_KEY", "{error}");
}

#[test]
fn every_variable_with_a_key_is_named_once() {
    let text = "[model]\nprovider = 'compatible'\nname = 'm'\napi_key_env = 'SHARED'\nheaders = {a = '${SHARED}${HEADER}'}\n\
        query = {key = '${QUERY}'}\n[search]\napi_key_env = 'SEARCH'\nembed_api_key_env = 'EMBED'\n\
        [mcp.servers.one]\ncommand = 'serve'\nargs = ['--a']\nenv = {TOKEN = '${SHARED} ${SERVER}'}\n\
        [mcp.servers.two]\ncommand = 'serve'\nargs = []";
    let config = Case::new(text, "").load(&[("SHARED", "k"), ("SERVER", "k")]).unwrap();
    let variables = config.key_variables();
    for name in ["SHARED", "HEADER", "QUERY", "SEARCH", "EMBED", "SERVER", "GEMINI_API_KEY"] {
        assert_eq!(variables.iter().filter(|variable| *variable == name).count(), 1, "{name}: {variables:?}");
    }
    assert!(
        config.search_variables().contains(&"SEARCH".into()) && !config.search_variables().contains(&"EMBED".into())
    );
    let servers: Vec<_> = config.mcp_servers().unwrap().into_iter().map(|server| server.name).collect();
    assert_eq!(servers, ["one", "two"]);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_named_by_a_relative_path_has_absolute_catalogs() {
    let case = Case::new("", "[tools]\ncatalogs = ['a.json']");
    let up: PathBuf = std::env::current_dir().unwrap().components().skip(1).map(|_| "..").collect();
    let file = up.join(case.user.path().strip_prefix("/").unwrap()).join(CONFIGURATION);
    let options = Options { file: Some(file), ..case.options(&[]) };
    let catalogs = Config::load(case.project.path(), &options).unwrap().tools().catalogs;
    assert!(Path::new(&catalogs[0].file).is_absolute(), "{}", catalogs[0].file);
}

#[test]
fn the_keys_of_a_dotenv_are_blanked() {
    let case = Case::new("[search]\napi_key_env = 'MY_SEARCH'", "");
    let dotenv = "OTHER_API_KEY=other-key\nDB=postgres://me:pass-word@host/db\nPLAIN=plain-text\n";
    fs::write(case.project.path().join(".env"), dotenv).unwrap();
    let config = case.load(&[("MY_SEARCH", "search-key")]).unwrap();
    let text = config.redactor().redacted("other-key pass-word plain-text search-key host");
    assert_eq!(text, "[key] [key] plain-text [key] host");
    assert!(config.key_variables().contains(&"MY_SEARCH".into()));
}

#[test]
fn settings_that_a_project_may_not_make_are_reported() {
    let project = "[agent]\napprove = 'all'\nmax_steps = 3\n[command]\nallow = ['rm']\n[mcp.servers.a]\nargs = ['x']";
    let case = Case::new(project, "[mcp.servers.a]\ncommand = 'y'\n[command]\nnetwork = true");
    let config = case.load(&[]).unwrap();
    let widened: Vec<_> = config.untrusted_settings().into_iter().map(|(name, _)| name).collect();
    assert_eq!(widened, ["agent.approve", "command.allow", "mcp.servers.a.args"]);
    assert_eq!(config.agent().approve, Approve::Ask);
    assert_eq!(case.load(&[("RAGMAKER_APPROVE", "all")]).unwrap().agent().approve, Approve::All);
    // Half of the server is the project's, so the user's half is not taken.
    assert!(config.mcp_servers().unwrap_err().is(CONFIG_INVALID));
    fs::write(case.project.path().join(".env"), "RAGMAKER_APPROVE=all").unwrap();
    assert_eq!(case.load(&[]).unwrap().agent().approve, Approve::Ask);
    // It may be stricter.
    assert_eq!(Case::new("agent.approve = 'never'", "").load(&[]).unwrap().agent().approve, Approve::Never);
}

#[test]
fn an_address_for_azure_in_a_project_is_reported() {
    let case = Case::new("", "[model]\nname = 'm'\nprovider = 'azure'");
    fs::write(case.project.path().join(".env"), "AZURE_OPENAI_ENDPOINT=https://elsewhere.example").unwrap();
    let widened = |environment: &[(&str, &str)]| {
        let config = case.load(environment).unwrap();
        let names = config.untrusted_settings().into_iter().map(|(name, _)| name.to_owned());
        (config.model().unwrap().base_url, names.collect::<Vec<_>>())
    };
    let key = ("AZURE_OPENAI_API_KEY", "k");
    assert_eq!(widened(&[key]), ("https://elsewhere.example".into(), vec!["model.base_url".into()]));
    // What the person says comes first.
    let own = ("AZURE_OPENAI_ENDPOINT", "https://own.example");
    assert_eq!(widened(&[key, own]), ("https://own.example".into(), vec![]));
    let other = ("RAGMAKER_BASE_URL", "https://other.example");
    assert_eq!(widened(&[key, other]), ("https://other.example".into(), vec![]));
    assert_eq!(widened(&[("RAGMAKER_PROVIDER", "openai"), ("OPENAI_API_KEY", "k")]).1, Vec::<String>::new());
}

#[test]
fn catalogs_start_at_the_folder_of_their_file() {
    let text =
        "[tools]\ncatalogs = ['a/discovery.json', {discover = ['list'], call = ['call', 'x'], confined = false}]";
    let case = Case::new(text, "");
    let catalogs = case.load(&[]).unwrap().tools().catalogs;
    assert_eq!(Path::new(&catalogs[0].file), case.project.path().join("a/discovery.json"));
    assert_eq!(catalogs[1].call, ["call", "x"]);
    assert!(catalogs[0].confined && !catalogs[1].confined);
    // One that a command prints has no file.
    assert_eq!(catalogs[1].file, "");
}

#[test]
fn a_missing_file_has_its_own_remedy() {
    let case = Case::new("", "");
    let options = Options { file: Some("/nonexistent.toml".into()), ..case.options(&[]) };
    let error = Config::load(case.project.path(), &options).unwrap_err();
    assert!(error.is(CONFIG_INVALID) && error.remediation().contains("leave --config out"), "{error}");
}
