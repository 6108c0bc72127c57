//! The start: from arguments and configuration to a conversation.

use std::sync::Arc;

use ragmaker_config::{Config, Options};
use ragmaker_model::{Client, Endpoint};
use ragmaker_project::{CONVERSATIONS, Project};
use ragmaker_registry::Selection;
use ragmaker_tool::{ARGUMENT_ERROR, Error, HostOptions};

use crate::{
    agent::Agent,
    approve::Approvals,
    arguments::Arguments,
    external_tools::{self, ExternalTools},
    history::fixed_tokens,
    interrupt::Signals,
    known_keys::KnownKeys,
    log::Log,
    machine::{Event, State, next},
    prompts::Language,
    rules::Rules,
    screen::Screen,
    session::Session,
    terminal::Terminal,
    tools::{RegistrySettings, Tools},
    trust,
};

/// The remedy where the folder of the project contains too much.
const BROAD_ROOT: &str = "Start ragmaker-agent in the folder of a project, or name it as --project-root; RAGMAKER_ALLOW_BROAD_ROOTS=1 allows this one.";

/// The conversation that the arguments name, or a new one; and whether it is one that was resumed.
pub(crate) fn agent(arguments: &Arguments, host: HostOptions, signals: &Signals) -> Result<(Agent, bool), Error> {
    let project = Project::discover(host.project_root.as_deref())?;
    let cache = project.cache_folder();
    let mut terminal = Terminal::new(cache.join(CONVERSATIONS).join("history"), signals.editing());
    let config = config(arguments, host.config.as_deref(), &project)?;
    trust::confirm(&config, &mut terminal)?;
    signals.check()?;
    let settings = config.agent();
    let endpoint = Endpoint::configured(config.model()?);
    let mut redactor = config.redactor();
    redactor.add_variable(endpoint.key.value());
    redactor.add_pairs(&endpoint.headers);
    let keys = KnownKeys::new(redactor);
    terminal.redact(keys.clone());
    let screen = Screen::new(arguments.output, signals.cancel().clone());
    let (mut tools, warnings) = tools(arguments, host, &config, &project, &screen, signals)?;
    // They repeat what servers print.
    let mut warnings: Vec<_> = warnings.iter().map(|warning| keys.redacted(warning)).collect();
    for warning in &warnings {
        screen.notice(&format!("  warning: {warning}"));
    }
    if let Some(warning) = broad_root(&project) {
        screen.notice(&warning);
        warnings.push(warning);
    }
    let (session, events) = match (&arguments.resume, arguments.continue_last) {
        (Some(id), _) => Session::open(&cache, id)?,
        (None, true) => Session::open(&cache, &Session::last(&cache)?)?,
        (None, false) => (Session::create(&cache)?, vec![]),
    };
    tools.name_conversation(session.id());
    let is_resumed = arguments.resume.is_some() || arguments.continue_last;
    let max_steps = arguments.max_steps.map_or(settings.max_steps, |steps| steps.max(1));
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let rules = Rules {
        max_steps: number(max_steps),
        think_required: settings.think_required && tools.find("think").is_ok(),
        max_turns: number(settings.max_conversation_turns),
        kept_turns: number(settings.summary_conversation_turns),
        context_tokens: number(settings.context_tokens),
        fixed_tokens: 0,
    };
    let (mut state, mut request) = (State::default(), String::new());
    for event in events {
        if let Event::User { text } = &event {
            request.clone_from(text);
        }
        state = next(state, event, &rules).0;
    }
    let log = if config.debug() { Log::open(&cache, session.id()) } else { Log::default() };
    let approvals =
        Approvals::new(arguments.approve.unwrap_or(settings.approve), terminal.is_there(), &config.commands());
    let language = match settings.language {
        ragmaker_config::Language::Japanese => Language::Japanese,
        ragmaker_config::Language::English => Language::English,
    };
    let mut agent = Agent {
        project,
        state,
        rules,
        session,
        client: Client::new(endpoint),
        language,
        tools: Arc::new(tools),
        approvals,
        terminal,
        screen,
        log,
        cancel: signals.cancel().clone(),
        blank: Box::new({
            let keys = keys.clone();
            move |text| keys.redacted(text)
        }),
        keys,
        calls_with_keys: vec![],
        request,
        calls: vec![],
        failure: None,
        ended_by: None,
        warnings,
    };
    agent.rules.fixed_tokens = fixed_tokens(&agent.system(), agent.tools.declarations());
    agent.screen.object(&agent.described(is_resumed));
    if !agent.state.history.open().is_empty() {
        // The program was ended in the middle of these calls: whether they did their work is not known.
        agent.recover()?;
    }
    Ok((agent, is_resumed))
}

/// The warning that no tool works in the folder of the project, because it contains too much.
fn broad_root(project: &Project) -> Option<String> {
    let error = project.named_root(project.root()).err()?;
    Some(format!("{}: every call of a tool for files will fail: {}. {}", error.code(), error.message(), BROAD_ROOT))
}

fn config(arguments: &Arguments, file: Option<&str>, project: &Project) -> Result<Config, Error> {
    let mut options = Options::of_process(project.root(), file)?;
    let flags = [
        ("model.provider", arguments.provider.clone()),
        ("model.name", arguments.model.clone()),
        ("model.base_url", arguments.base_url.clone()),
        ("log.debug", arguments.debug.then(|| "true".to_owned())),
    ];
    options.flags = flags.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    Config::load(project.root(), &options)
}

/// The tools, with a warning for each that cannot be offered.
fn tools(
    arguments: &Arguments,
    host: HostOptions,
    config: &Config,
    project: &Project,
    screen: &Screen,
    signals: &Signals,
) -> Result<(Tools, Vec<String>), Error> {
    let configured = config.tools().offered.join(",");
    let names = arguments.tools.as_deref().or(Some(configured.as_str()).filter(|names| !names.is_empty()));
    let ExternalTools { offered, warnings, names: external } =
        external_tools::load_external_tools(config, project, names, arguments.read_only, screen, signals.cancel())?;
    signals.check()?;
    let is_external = |name: &str| external.iter().any(|external| external == name.trim());
    let own = names.map(|names| names.split(',').filter(|name| !is_external(name)).collect::<Vec<_>>().join(","));
    let selection = Selection::new(None, own.as_deref(), arguments.read_only)?.with_commands(true);
    let project_root = project.root().to_str().map(str::to_owned);
    let host = HostOptions { project_root, ..host };
    let own = RegistrySettings {
        host: Arc::new(host),
        commands: config.commands(),
        without: config.key_variables(),
        of_search: config.search_variables(),
        of_embeddings: config.embeddings_variable(),
    };
    let tools = Tools::new(&selection, offered, own);
    if tools.declarations().is_empty() {
        let reasons = warnings.iter().fold(String::new(), |all, warning| all + "; " + warning);
        return Err(ARGUMENT_ERROR
            .error(format!("no tool is left to offer{reasons}"))
            .remedy(if arguments.read_only {
                "Name read-only tools as --tools, or leave --read-only out."
            } else {
                "Correct the configuration of the tools, or name others as --tools."
            })
            .detail("argument", "--tools"));
    }
    Ok((tools, warnings))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use argh::FromArgs;
    use ragmaker_project::Environment;
    use ragmaker_testkit::folder;

    use super::*;
    use crate::screen::Form;

    /// The names of the tools that these arguments offer in the project `root`, which `flags` configure.
    fn offered(root: &Path, arguments: &[&str], flags: &[(&'static str, &str)]) -> Result<Vec<String>, Error> {
        let flags = flags.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let config = Config::load(root, &Options { flags, ..Options::default() }).unwrap();
        let arguments = Arguments::from_args(&["ragmaker-agent"], arguments).unwrap();
        let signals = Signals::unwatched(false);
        let screen = Screen::new(Form::Json, signals.cancel().clone());
        let project = Project::discover(root.to_str()).unwrap();
        let (tools, warnings) = tools(&arguments, HostOptions::default(), &config, &project, &screen, &signals)?;
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(tools.host().project_root.as_deref(), root.to_str());
        Ok(tools.declarations().iter().map(|tool| tool.name.clone()).collect())
    }

    #[test]
    fn the_named_tools_are_offered_and_flags_outrank_the_configuration() {
        let (_holder, root) = folder("project");
        let configured = [("tools.offered", "read_file,think")];
        assert_eq!(offered(&root, &[], &configured).unwrap(), ["read_file", "think"]);
        assert_eq!(offered(&root, &["--tools", " delete_file ,"], &configured).unwrap(), ["delete_file"]);
        let all = offered(&root, &[], &[]).unwrap();
        assert!(["run_command", "write_file"].iter().all(|name| all.iter().any(|tool| tool == name)), "{all:?}");
        let reading = offered(&root, &["--read-only"], &[]).unwrap();
        assert!(reading.len() < all.len() && !reading.contains(&"write_file".to_owned()), "{reading:?}");
    }

    #[test]
    fn a_run_without_tools_is_refused() {
        let (_holder, root) = folder("project");
        let error = offered(&root, &["--tools", "delete_file", "--read-only"], &[]).unwrap_err();
        assert!(error.is(ARGUMENT_ERROR) && error.remediation().contains("--read-only"), "{error:?}");
        assert!(offered(&root, &["--tools", ","], &[]).unwrap_err().remediation().contains("--tools"));
        let unknown = offered(&root, &["--tools", "reed_file"], &[]).unwrap_err();
        assert!(unknown.is(ARGUMENT_ERROR) && unknown.details()["value"] == "reed_file", "{unknown:?}");
    }

    #[test]
    fn a_folder_that_contains_too_much_is_warned_about() {
        let (_holder, root) = folder("project");
        // Where nothing is named, the working directory is the project.
        let project = |home: Option<&Path>| {
            let environment = Environment { home: home.map(Path::to_owned), ..Environment::default() };
            Project::from_environment(None, environment, Some(root.clone()), false).unwrap()
        };
        assert_eq!(broad_root(&project(None)), None);
        let warning = broad_root(&project(Some(&root))).unwrap();
        assert!(warning.starts_with("ROOT_TOO_BROAD: ") && warning.contains("--project-root"), "{warning}");
    }
}
