//! The search engines: the request to each, and the place of the results in its answer.

use ragmaker_config::{Redactor, SearchEngine, SearchSettings};
use ragmaker_http::{Client, Limits, Response};
use ragmaker_tool::Error;
use serde_json::{Value, json};
use url::Url;

use crate::{
    Hit, SEARCH_AUTH_FAILED, SEARCH_FAILED, SEARCH_RATE_LIMITED,
    text::{SNIPPET, TITLE, plain},
};

/// The maximum size in bytes of an answer: a page of results has some 50 kB.
const MAX_BYTES: u64 = 4 << 20;
/// The maximum number of results that Google returns at once.
const GOOGLE_PAGE: usize = 10;
/// The maximum number of characters that are repeated of what an engine says.
const MAX_MESSAGE: usize = 300;

/// At most `limit` results for `query`.
///
/// # Errors
/// [`SEARCH_AUTH_FAILED`], [`SEARCH_RATE_LIMITED`] and [`SEARCH_FAILED`].
pub(crate) fn search(settings: &SearchSettings, query: &str, limit: usize) -> Result<Vec<Hit>, Error> {
    let service = Service::new(settings)?;
    let mut hits = match settings.engine {
        SearchEngine::Tavily => {
            let body = json!({"query": query, "max_results": limit, "search_depth": "basic"});
            let key = format!("Bearer {}", settings.key.value());
            let answer = service.post("search", &[("authorization", &key)], &body)?;
            service.hits(&answer, "/results", ["title", "url", "content"], &["published_date"])?
        }
        SearchEngine::Google => service.google(query, limit)?,
        SearchEngine::Searxng => {
            let answer = service.get("search", &[("q", query), ("format", "json")], &[])?;
            let hits = service.hits(&answer, "/results", ["title", "url", "content"], &["publishedDate"])?;
            service.is_answered(&answer, &hits)?;
            hits
        }
        SearchEngine::Brave => {
            let count = limit.to_string();
            let query = [("q", query), ("count", &count), ("text_decorations", "false")];
            let answer = service.get("res/v1/web/search", &query, &[("x-subscription-token", settings.key.value())])?;
            // Without any result, there is no list of them.
            if answer["web"].is_null() && answer["type"] == "search" {
                return Ok(vec![]);
            }
            service.hits(&answer, "/web/results", ["title", "url", "description"], &["page_age", "age"])?
        }
    };
    hits.truncate(limit);
    Ok(hits)
}

/// An engine at its address.
struct Service<'a> {
    settings: &'a SearchSettings,
    base: Url,
    client: Client,
    redactor: Redactor,
}

impl<'a> Service<'a> {
    fn new(settings: &'a SearchSettings) -> Result<Self, Error> {
        let own = match settings.engine {
            SearchEngine::Tavily => "https://api.tavily.com",
            SearchEngine::Google => "https://www.googleapis.com",
            SearchEngine::Brave => "https://api.search.brave.com",
            // The configuration has its address.
            SearchEngine::Searxng => "",
        };
        let base = if settings.base_url.is_empty() { own } else { &settings.base_url };
        // A path joins what ends with a slash.
        let base = Url::parse(&format!("{}/", base.trim_end_matches('/'))).map_err(|error| {
            SEARCH_FAILED.error(format!("search.base_url is not a URL: {error}")).detail("key", "search.base_url")
        })?;
        let mut redactor = Redactor::default();
        redactor.add(settings.key.value());
        let limits = Limits { body: MAX_BYTES, decompressed: MAX_BYTES, ..Limits::default() };
        Ok(Self { settings, base, client: Client::of_service(limits), redactor })
    }

    /// Google returns ten results at once.
    fn google(&self, query: &str, wanted: usize) -> Result<Vec<Hit>, Error> {
        let mut hits = vec![];
        while hits.len() < wanted {
            let count = (wanted - hits.len()).min(GOOGLE_PAGE).to_string();
            let start = (hits.len() + 1).to_string();
            let (key, id) = (self.settings.key.value(), self.settings.google_engine_id.as_str());
            let query = [("key", key), ("cx", id), ("q", query), ("num", &count), ("start", &start)];
            let answer = self.get("customsearch/v1", &query, &[])?;
            // Without any result, there is no list of them.
            let page = if answer["items"].is_null() && answer["searchInformation"].is_object() {
                vec![]
            } else {
                let published = ["pagemap/metatags/0/article:published_time"];
                self.hits(&answer, "/items", ["title", "link", "snippet"], &published)?
            };
            let is_last = page.len() < GOOGLE_PAGE;
            hits.extend(page);
            if is_last {
                break;
            }
        }
        Ok(hits)
    }

    fn get(&self, path: &str, query: &[(&str, &str)], headers: &[(&str, &str)]) -> Result<Value, Error> {
        let mut url = self.url(path)?;
        url.query_pairs_mut().extend_pairs(query);
        self.answer(self.client.ask(&url, headers, None))
    }

    fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Result<Value, Error> {
        self.answer(self.client.ask(&self.url(path)?, headers, Some(body.to_string().as_bytes())))
    }

    fn url(&self, path: &str) -> Result<Url, Error> {
        // Some people give the address of the search itself.
        let mut base = self.base.clone();
        if base.path().trim_matches('/').ends_with(path) {
            let shorter = base.path().trim_end_matches('/').to_owned();
            base.set_path(&shorter);
            return Ok(base);
        }
        base.join(path).map_err(|error| self.failed(&error.to_string()))
    }

    /// The JSON of a response, or the failure that it means.
    fn answer(&self, response: Result<Response, Error>) -> Result<Value, Error> {
        // Its message has the address, which for Google contains the key.
        let response = response.map_err(|error| {
            let reason = error.details()["net_error"].as_str().map_or_else(|| error.code().to_owned(), str::to_owned);
            self.failed(&format!("it cannot be reached: {reason}"))
        })?;
        let parsed: Option<Value> = serde_json::from_slice(&response.body).ok();
        if response.status != 200 {
            return Err(self.refused(&response, parsed.as_ref()));
        }
        parsed.ok_or_else(|| self.failed("its answer is not JSON"))
    }

    fn refused(&self, response: &Response, body: Option<&Value>) -> Error {
        let status = response.status;
        let message = body.map_or_else(|| String::from_utf8_lossy(&response.body).into_owned(), error_message);
        let message = self.redactor.redacted(&message);
        let what = format!("it answered {status}: {}", plain(&message, MAX_MESSAGE));
        let is_about = |words: &[&str]| {
            let text = body.map(ToString::to_string).unwrap_or_default().to_lowercase();
            words.iter().any(|word| text.contains(word))
        };
        let is_limit = match status {
            // Tavily's own for a plan that is used up.
            429 | 432 | 433 => true,
            403 => is_about(&["ratelimit", "rate limit", "quota", "dailylimit"]),
            _ => false,
        };
        let code = match status {
            _ if is_limit => SEARCH_RATE_LIMITED,
            // A SearXNG that does not offer JSON.
            403 if self.settings.engine == SearchEngine::Searxng => {
                return self
                    .failed(&what)
                    .remedy("Add json to search.formats in the server's settings.yml.")
                    .detail("http_status", status);
            }
            401 | 403 => SEARCH_AUTH_FAILED,
            400 | 422 if is_about(&["api key not valid", "api_key_invalid", "subscription_token_invalid"]) => {
                SEARCH_AUTH_FAILED
            }
            _ => SEARCH_FAILED,
        };
        let error = self.error(code, &what).detail("http_status", status);
        match (&self.settings.key_variable, response.retry_after()) {
            (Some(variable), _) if code == SEARCH_AUTH_FAILED => error.detail("variable", variable.as_str()),
            (_, Some(wait)) => error.detail("retry_after_s", wait.as_secs()),
            _ => error,
        }
    }

    /// The results in the list at `list` of an answer: its members for title, address and snippet, and paths to the
    /// first date that it has.
    fn hits(&self, answer: &Value, list: &str, members: [&str; 3], published: &[&str]) -> Result<Vec<Hit>, Error> {
        let list = answer.pointer(list).and_then(Value::as_array).ok_or_else(|| {
            self.failed(&format!(
                "its answer has no list of results: {}",
                plain(&self.redactor.redacted(&error_message(answer)), MAX_MESSAGE)
            ))
        })?;
        let hit = |result: &Value| {
            let text = |name: &str, most: usize| plain(result[name].as_str().unwrap_or_default(), most);
            let [title, url, snippet] = members;
            let url = Url::parse(result[url].as_str()?).ok().filter(|url| ragmaker_address::check(url).is_ok())?;
            let date = |path: &&str| result.pointer(&format!("/{path}"))?.as_str();
            let date = published.iter().find_map(date).map(|date| plain(date, TITLE)).filter(|date| !date.is_empty());
            Some(Hit { title: text(title, TITLE), url: url.into(), snippet: text(snippet, SNIPPET), published: date })
        };
        Ok(list.iter().filter_map(hit).collect())
    }

    /// Refuses an empty list of `SearXNG` where the engines that it asks did not answer: it counts that as no hit.
    fn is_answered(&self, answer: &Value, hits: &[Hit]) -> Result<(), Error> {
        let silent = answer["unresponsive_engines"].as_array().filter(|silent| hits.is_empty() && !silent.is_empty());
        let Some(silent) = silent else { return Ok(()) };
        // Each is a pair of the engine's name and the reason.
        let engine =
            |pair: &Value| format!("{} ({})", pair[0].as_str().unwrap_or("?"), pair[1].as_str().unwrap_or("?"));
        let engines = silent.iter().map(engine).collect::<Vec<_>>().join(", ");
        Err(self
            .failed(&format!(
                "it has no result, and of its engines these did not answer: {}",
                plain(&engines, MAX_MESSAGE)
            ))
            .remedy(
                "Try again later, or with another engine; the server's settings.yml lists the engines that it asks.",
            ))
    }

    fn failed(&self, what: &str) -> Error {
        self.error(SEARCH_FAILED, what)
    }

    fn error(&self, code: ragmaker_tool::Code, what: &str) -> Error {
        let engine = self.settings.engine.name();
        code.error(format!("the search engine {engine}: {what}")).detail("engine", engine)
    }
}

/// The error message in an answer.
fn error_message(body: &Value) -> String {
    let paths = ["/error/message", "/error/detail", "/detail/error", "/detail", "/error", "/message"];
    let text = paths.iter().find_map(|path| body.pointer(path)?.as_str());
    text.map_or_else(|| body.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_an_error_is_where_each_engine_has_it() {
        for (body, message) in [
            (json!({"error": {"message": "a", "detail": "b"}}), "a"),
            (json!({"error": {"detail": "b"}}), "b"),
            (json!({"detail": {"error": "c"}}), "c"),
            (json!({"detail": "d"}), "d"),
            (json!({"error": "e"}), "e"),
            (json!({"other": 1}), "{\"other\":1}"),
        ] {
            assert_eq!(error_message(&body), message, "{body}");
        }
    }
}
