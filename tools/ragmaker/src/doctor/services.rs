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
    let host = |url: &Url| url.host_str().unwrap_or_default().to_owned();
    let answered = Url::parse(&url).map_err(|error| error.to_string()).and_then(|url| {
        let answered = client().ask(&url, &headers, None).map_err(|_| format!("{} does not answer", host(&url)))?;
        Ok((host(&url), answered.status))
    });
    match answered {
        Ok((host, 401 | 403)) => Check::problem(
            NAME,
            format!("{named}: {host} refuses the key ({key})"),
            "Set the variable to a valid key, in the environment or in .env.",
        ),
        Ok((host, status)) if status >= 500 => Check::problem(
            NAME,
            format!("{named}: {host} answers with status {status}"),
            "Try again later, or check model.base_url.",
        ),
        Ok((host, _)) => Check::ok(NAME, format!("{named}, {key}; {host} answers")),
        Err(reason) => Check::problem(
            NAME,
            format!("{named}: {reason}"),
            "Check model.base_url, the network and the proxy; a local server has to be started first.",
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
