//! The JSON answers of a page by WebDriver commands alone. The answers that its scripts received are not seen, so they are
//! requested again, in the page and with its cookies: by GET, whatever the method was.

use std::{sync::Arc, time::Instant};

use ragmaker_address::{Domains, MAX_BYTES, Pattern};
use serde_json::{Value, json};
use url::Url;

use super::{WebDriverVisit, in_function};
use crate::{
    error::{CommandError, Failure},
    limits::LIMITS,
    responses::{JsonResponse, JsonResponses, MAX_BODY, Matcher, is_json},
};

const RESPONSES: &str = include_str!("../js/responses.js");

/// The number of addresses that are requested at the same time.
const AT_ONCE: usize = 6;

/// The JSON answers of the page of `visit` whose URLs match `pattern`, from `domains`.
pub(crate) fn collect(
    visit: &WebDriverVisit<'_>,
    pattern: &Arc<Pattern>,
    domains: &Domains,
) -> Result<JsonResponses, Failure> {
    let mut matcher = Matcher::new(pattern.clone());
    let mut collected = JsonResponses::default();
    let is_allowed = |url: &Url| ragmaker_address::check(url).and_then(|()| domains.check(url)).is_ok();
    for frame in visit.frames().or_else(|error| unless_gone(visit, error))? {
        let asked = run(visit, &frame, &json!(["asked"]))?;
        let mut urls: Vec<Url> = vec![];
        for url in asked.as_array().into_iter().flatten().filter_map(Value::as_str) {
            let Some(url) = Url::parse(url).ok().filter(|url| url.as_str().len() <= MAX_BYTES) else { continue };
            if urls.contains(&url) {
                continue;
            }
            match matcher.matches(url.as_str()) {
                Some(true) if is_allowed(&url) => urls.push(url),
                Some(false) => {}
                Some(true) | None => collected.left_out += 1,
            }
        }
        for some in urls.chunks(AT_ONCE) {
            if visit.deadline.saturating_duration_since(Instant::now()) <= LIMITS.webdriver_read {
                collected.left_out += some.len();
                continue;
            }
            let patience = LIMITS.webdriver_read.as_millis() as u64 * 4 / 5;
            let urls: Vec<&str> = some.iter().map(Url::as_str).collect();
            let answers = run(visit, &frame, &json!(["fetch", urls, MAX_BODY, patience]))?;
            for index in 0..some.len() {
                match answer(&answers[index]) {
                    Answer::Json(response) if is_allowed(&response.url) => collected.add(response),
                    Answer::Other => {}
                    Answer::Json(_) | Answer::None => collected.left_out += 1,
                }
            }
        }
    }
    Ok(collected)
}

/// What a server answered to a request.
#[derive(Debug, PartialEq)]
enum Answer {
    Json(JsonResponse),
    /// A response that is not JSON, or has an error status.
    Other,
    /// No response within the time limit, or one that is longer than the limit.
    None,
}

/// The answer that the script describes.
fn answer(described: &Value) -> Answer {
    let Some([url, status, media_type, body]) = described.as_array().map(Vec::as_slice) else { return Answer::None };
    let media_type = media_type.as_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if *status != 200 || !is_json(media_type) {
        return Answer::Other;
    }
    match (url.as_str().map(Url::parse), body.as_str()) {
        (Some(Ok(url)), Some(body)) => Answer::Json(JsonResponse { url, body: body.to_owned(), address: None }),
        _ => Answer::None,
    }
}

/// What the script answers in a frame; null where the frame is gone or does not answer in time.
fn run(visit: &WebDriverVisit<'_>, frame: &str, arguments: &Value) -> Result<Value, Failure> {
    match visit.execute_in(frame, &in_function(RESPONSES), arguments, LIMITS.webdriver_read) {
        Err(CommandError::Failed(_)) => Ok(Value::Null),
        Err(CommandError::Late) if Instant::now() < visit.deadline => Ok(Value::Null),
        answer => answer.map_err(|error| visit.failure(error)),
    }
}

/// No frames for a document that is being replaced.
fn unless_gone(visit: &WebDriverVisit<'_>, error: CommandError) -> Result<Vec<String>, Failure> {
    match error {
        CommandError::Failed(_) => Ok(vec![]),
        error => Err(visit.failure(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_is_an_answer() {
        let described = |status: u16, media_type: &str| json!(["https://x.example/a", status, media_type, "{}"]);
        let Answer::Json(response) = answer(&described(200, "application/json; charset=utf-8")) else { panic!() };
        assert_eq!((response.url.path(), response.body.as_str()), ("/a", "{}"));
        assert_eq!(answer(&described(404, "application/json")), Answer::Other);
        assert_eq!(answer(&described(200, "text/html")), Answer::Other);
        assert_eq!(answer(&Value::Null), Answer::None);
    }
}
