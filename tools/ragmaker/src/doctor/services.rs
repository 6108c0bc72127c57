//! The services that are configured: the model and the remote browsers.

use std::time::Duration;

use ragmaker_config::{Config, Options};
use ragmaker_http::{Client, Limits};
use ragmaker_model::{Endpoint, Listed, Provider};
use ragmaker_project::Project;
use ragmaker_tool::{HostOptions, arguments::nearest};
use serde_json::Value;
use url::Url;

use super::Check;

/// How long a service may take to answer.
const WAIT: Duration = Duration::from_secs(10);
/// The number of models that are shown.
const SHOWN: usize = 5;

pub(super) fn checks(project: &Project, host: &HostOptions, quick: bool) -> Vec<Check> {
    let mut checks = vec![model(project, host, quick)];
    match ragmaker_browser::endpoint(host) {
        Ok(None) => {}
        Ok(Some(url)) => checks.push(webdriver(&url, host, quick)),
        Err(error) => checks.push(Check::failed(WEBDRIVER, &error)),
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
    if !settings.key.value().chars().all(is_in_header) {
        let variable = settings.key_variable.as_deref().unwrap_or("the variable");
        return Check::problem(
            NAME,
            format!("{named}: the key in {variable} has a character that a header cannot have, such as a line break"),
            "Copy the key again, without spaces and line breaks around it.",
        );
    }
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
        200..300 if let Ok(list) = serde_json::from_str(&body) => {
            in_list(&endpoint, &list, &format!("{named}, {key}; {place} answers"))
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

/// Whether a key with `character` can be sent as the value of a header.
fn is_in_header(character: char) -> bool {
    matches!(character, ' '..='~')
}

/// Whether the endpoint, which answered with `list`, has the model. `asked` describes the model, its key and the answer.
fn in_list(endpoint: &Endpoint, list: &Value, asked: &str) -> Check {
    const NAME: &str = "model";
    let models = match endpoint.listed(list) {
        Listed::Yes => return Check::ok(NAME, format!("{asked}, and lists the model")),
        Listed::Unknown => return Check::ok(NAME, asked),
        Listed::No(models) => models,
    };
    let models: Vec<&str> = models.iter().map(String::as_str).collect();
    let choice = if let Some(near) = nearest(&endpoint.model, &models) {
        near.to_owned()
    } else {
        let more = if models.len() > SHOWN { ", …" } else { "" };
        format!("one of its models: {}{more}", models.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", "))
    };
    let (found, advice) =
        (format!("{asked}, and does not list the model"), format!("Set model.name or RAGMAKER_MODEL to {choice}."));
    // Others accept names that they do not list, such as aliases; a local server may have one model under any name.
    match endpoint.provider {
        Provider::OpenAi | Provider::Gemini => Check::problem(NAME, found, advice),
        _ => Check::note(NAME, found, format!("If the agent fails: {advice}")),
    }
}

/// The name of the check of remote browsers.
const WEBDRIVER: &str = "WebDriver";

/// The server of remote browsers.
fn webdriver(url: &Url, host: &HostOptions, quick: bool) -> Check {
    const NAME: &str = WEBDRIVER;
    let instead = match host.webdriver_url {
        Some(_) => "leave out --webdriver-url",
        None => "unset RAGMAKER_WEBDRIVER_URL",
    };
    let advice = format!("Start the grid, or {instead}. See docs/scale.md.");
    let mut url = url.clone();
    let shown = url.host_str().unwrap_or_default().to_owned();
    if quick {
        return Check::ok(NAME, format!("{shown}, not asked"));
    }
    let browser = if ragmaker_browser::is_firefox().unwrap_or_default() { "firefox" } else { "chrome" };
    url.set_path(&format!("{}/status", url.path().trim_end_matches('/')));
    let status = client().ask(&url, &[], None).ok();
    let status = status.and_then(|status| serde_json::from_slice::<Value>(&status.body).ok());
    match status {
        Some(status) if status["value"]["ready"] == true => match slots(&status, browser) {
            Some((0, all)) => Check::problem(
                NAME,
                format!("{shown} has {all} places for browsers, none of them for {browser}"),
                format!("Add a node with {browser}, or set RAGMAKER_BROWSER to the browser of the nodes."),
            ),
            Some((number, _)) => Check::ok(NAME, format!("{shown} is ready, with {number} places for {browser}")),
            None => Check::ok(NAME, format!("{shown} is ready")),
        },
        Some(status) => {
            let message = status["value"]["message"].as_str().unwrap_or("no reason given");
            Check::problem(NAME, format!("{shown} is not ready: {message}"), advice)
        }
        None => Check::problem(NAME, format!("{shown} does not answer as a WebDriver server"), advice),
    }
}

/// The number of browsers called `browser`, and of all browsers, that the nodes of a grid can run at the same time;
/// `None` if the status names no nodes, as that of a single driver.
fn slots(status: &Value, browser: &str) -> Option<(usize, usize)> {
    let nodes = status["value"]["nodes"].as_array()?;
    let slots = || nodes.iter().filter_map(|node| node["slots"].as_array()).flatten();
    let is_of = |slot: &&Value| slot["stereotype"]["browserName"].as_str() == Some(browser);
    Some((slots().filter(is_of).count(), slots().count()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_with_a_line_break_cannot_be_sent() {
        assert!("sk-a_b.C/1+=".chars().all(is_in_header));
        assert!(!"sk-a\n".chars().all(is_in_header) && !"sk-ä".chars().all(is_in_header));
    }

    #[test]
    fn the_browsers_of_a_grid_are_counted() {
        let slot = |name: &str| json!({"id": {"hostId": "a"}, "session": null, "stereotype": {"browserName": name}});
        let nodes = json!([{"slots": [slot("chrome"), slot("chrome")]}, {"slots": [slot("firefox")]}]);
        let status = json!({"value": {"ready": true, "message": "Selenium Grid ready.", "nodes": nodes}});
        assert_eq!(slots(&status, "chrome"), Some((2, 3)));
        assert_eq!(slots(&status, "safari"), Some((0, 3)));
        assert_eq!(slots(&json!({"value": {"ready": true}}), "chrome"), None);
    }
}
