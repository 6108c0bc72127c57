//! The services that are configured: the model and the remote browsers.

use std::time::Duration;

use ragmaker_config::{Config, Options};
use ragmaker_http::{Client, Limits};
use ragmaker_model::Endpoint;
use ragmaker_project::{Project, variables};
use ragmaker_tool::HostOptions;
use url::Url;

use super::Check;

/// How long a service may take to answer.
const WAIT: Duration = Duration::from_secs(10);

pub(super) fn checks(project: &Project, host: &HostOptions, quick: bool) -> Vec<Check> {
    let mut checks = vec![model(project, host, quick)];
    let grid = host.webdriver_url.clone().or_else(|| std::env::var(variables::WEBDRIVER_URL).ok());
    if let Some(grid) = grid.filter(|url| !url.trim().is_empty()) {
        checks.push(webdriver(&grid, quick));
    }
    checks
}

fn client() -> Client {
    Client::of_service(Limits { connect: WAIT, whole: WAIT, ..Limits::default() })
}

/// The model of the agent. Its key is never shown.
fn model(project: &Project, host: &HostOptions, quick: bool) -> Check {
    const NAME: &str = "model";
    let options = Options::of_process(project.root(), host.config.as_deref());
    let config = match options.and_then(|options| Config::load(project.root(), &options)) {
        Ok(config) => config,
        Err(error) => return Check::failed(NAME, &error),
    };
    let settings = match config.model() {
        Ok(settings) => settings,
        Err(error) => {
            let advice = format!("Only ragmaker agent, rag and ask need one. {}", error.remediation());
            return Check::note(NAME, error.message(), advice);
        }
    };
    let named = format!("{} of {}", settings.name, settings.provider.name());
    let key = match &settings.key_variable {
        Some(variable) if !settings.key.is_empty() => format!("the key is in {variable}"),
        _ => "no key".to_owned(),
    };
    if quick {
        return Check::ok(NAME, format!("{named}, {key}"));
    }
    if !config.is_confirmed() {
        return Check::note(
            NAME,
            format!("{named}, {key}; the project's own files set where it is, so it was not asked"),
            "Start ragmaker agent, and confirm the project's settings.",
        );
    }
    let endpoint = Endpoint::configured(settings);
    let (url, headers) = endpoint.list_request();
    let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let Ok(url) = Url::parse(&url) else {
        return Check::problem(NAME, "model.base_url is not an address", "Set it to https://HOST.");
    };
    let place = url.host_str().unwrap_or_default().to_owned();
    let answer = match client().ask(&url, &headers, None) {
        Ok(answer) => answer,
        // The message may have the address with a key in it.
        Err(error) => {
            return Check::problem(
                NAME,
                format!("{named}: {place} does not answer ({})", error.code()),
                "Check model.base_url, the network and the proxy; a local server has to be started first.",
            );
        }
    };
    let body = String::from_utf8_lossy(&answer.body);
    // Gemini refuses a key with 400.
    let is_refused = matches!(answer.status, 401 | 403) || (answer.status == 400 && body.contains("API key"));
    match answer.status {
        _ if is_refused => Check::problem(
            NAME,
            format!("{named}: {place} refuses the key ({key})"),
            "Set the variable to a valid key, in the environment or in .env.",
        ),
        200..300 if serde_json::from_str::<serde_json::Value>(&body).is_ok() => {
            Check::ok(NAME, format!("{named}, {key}; {place} answers"))
        }
        429 => {
            Check::note(NAME, format!("{named}: {place} answers that there were too many requests"), "Try again later.")
        }
        // Some servers of models do not list them.
        404 | 405 => Check::note(
            NAME,
            format!("{named}, {key}; {place} answers, but has no list of models"),
            "If the agent fails, check model.base_url.",
        ),
        status => Check::problem(
            NAME,
            format!("{named}: {place} answers with status {status}, and not with a list of models"),
            "Check model.base_url, or try again later.",
        ),
    }
}

/// The server of remote browsers.
fn webdriver(address: &str, quick: bool) -> Check {
    const NAME: &str = "WebDriver";
    let advice = "Start the grid, or unset RAGMAKER_WEBDRIVER_URL. See docs/scale.md.";
    let Ok(mut url) = Url::parse(address) else {
        return Check::problem(NAME, "RAGMAKER_WEBDRIVER_URL is not an address", "Set it to http://HOST:PORT.");
    };
    let shown = url.host_str().unwrap_or_default().to_owned();
    if quick {
        return Check::ok(NAME, format!("{shown}, not asked"));
    }
    url.set_path(&format!("{}/status", url.path().trim_end_matches('/')));
    let status = client().ask(&url, &[], None).ok();
    let status = status.and_then(|status| serde_json::from_slice::<serde_json::Value>(&status.body).ok());
    match status {
        Some(status) if status["value"]["ready"] == true => Check::ok(NAME, format!("{shown} has browsers")),
        Some(status) => {
            let message = status["value"]["message"].as_str().unwrap_or("no reason given");
            Check::problem(NAME, format!("{shown} is not ready: {message}"), advice)
        }
        None => Check::problem(NAME, format!("{shown} does not answer as a WebDriver server"), advice),
    }
}
