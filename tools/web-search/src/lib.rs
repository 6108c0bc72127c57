//! `ragmaker-web-search`: searches the web with a search engine.
//!
//! Engine, address and API key come from the configuration ([`ragmaker_config`]). A call may choose among the
//! configured engines, but never the address to which a key is sent.

mod engine;
mod text;

use argh::{ArgsInfo, FromArgs};
use ragmaker_address::Domains;
use ragmaker_config::{CONFIG_INVALID, Config, Options, SEARCH_NOT_CONFIGURED, SearchEngine};
use ragmaker_project::Project;
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Bounded, Budget, Code, ContentOrigin, Error, Invocation, Isolation, JsonSchema, Tool,
    choice, host,
};
use serde::{Deserialize, Serialize};
use url::Url;

/// The engine refused the key.
const SEARCH_AUTH_FAILED: Code = Code::new(
    "SEARCH_AUTH_FAILED",
    "Check the key in the variable that details.variable names. Pages with a known address can be fetched without a search engine.",
);
/// The engine refused further searches for now.
const SEARCH_RATE_LIMITED: Code = Code::new(
    "SEARCH_RATE_LIMITED",
    "Wait, or use another engine; details.retry_after_s is the time to wait, if it is known.",
);
/// The engine did not answer, or not with results.
const SEARCH_FAILED: Code =
    Code::new("SEARCH_FAILED", "Try again later or another engine; check search.base_url and the network.");

/// The maximum length in characters of a query.
const MAX_QUERY: usize = 1_000;

/// The search engine.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Tavily.
    Tavily,
    /// Google's Custom Search.
    Google,
    /// A `SearXNG` server.
    Searxng,
    /// Brave.
    Brave,
}

impl From<Engine> for SearchEngine {
    fn from(engine: Engine) -> Self {
        match engine {
            Engine::Tavily => Self::Tavily,
            Engine::Google => Self::Google,
            Engine::Searxng => Self::Searxng,
            Engine::Brave => Self::Brave,
        }
    }
}

/// Search the web for pages about a question. To read what it finds, open the URLs with the fetching or browser tools;
/// for saved documents use `ragmaker-search-knowledge-base`. Returns titles, URLs and snippets, best first.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// search query
    #[argh(option)]
    pub query: String,
    /// the maximum number of results, up to 20
    #[argh(option, default = "Bounded::new(5)")]
    pub limit: Bounded<1, 20>,
    /// tavily, google, searxng or brave (default: the configured one)
    #[argh(option, from_str_fn(choice))]
    pub engine: Option<Engine>,
}

/// The search results.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The query.
    pub query: String,
    /// The engine that answered.
    pub engine: &'static str,
    /// The results, best first.
    pub results: Vec<Hit>,
    /// The number of results that the engine returned.
    pub total: usize,
    /// A remark about the results, for example that there are none; otherwise null.
    pub message: Option<String>,
}

/// A page that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Hit {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// The engine's excerpt of the page.
    pub snippet: String,
    /// The date of publication from the engine; null if it has none.
    pub published: Option<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY.open_world();
    const HOST_OPTIONS: &'static [&'static str] = host::SEARCHING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Web;
    const OPERANDS: &'static [&'static str] = &["--query"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[SEARCH_NOT_CONFIGURED, SEARCH_AUTH_FAILED, SEARCH_RATE_LIMITED, SEARCH_FAILED, CONFIG_INVALID],
        ragmaker_project::ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let refused = |what: &str| ARGUMENT_ERROR.error(format!("--query {what}")).detail("argument", "--query");
        let query = self.query.trim().to_owned();
        if query.is_empty() {
            return Err(refused("is empty"));
        }
        if query.chars().count() > MAX_QUERY {
            return Err(refused(&format!("has more than {MAX_QUERY} characters")));
        }
        let project = Project::discover(invocation.host.project_root.as_deref())?;
        let options = Options::of_process(project.root(), invocation.host.config.as_deref())?;
        let config = Config::load(project.root(), &options)?;
        let settings = config.search(self.engine.map(SearchEngine::from))?;
        let domains = Domains::new(&invocation.host.allow_domain)?;
        let found = engine::search(&settings, &query, self.limit.index())?;
        let total = found.len();
        // A page that may not be opened is of no use, and its snippet is a page of that domain.
        let is_open = |hit: &Hit| Url::parse(&hit.url).is_ok_and(|url| domains.check(&url).is_ok());
        let allowed: Vec<_> = found.into_iter().filter(is_open).collect();
        let closed = total - allowed.len();
        let mut answer = Answer { query, engine: settings.engine.name(), results: vec![], total, message: None };
        let longest = "00 of the results are of domains that may not be opened. 00 more did not fit into the answer.";
        let mut budget = Budget::for_frame(&Answer {
            query: answer.query.clone(),
            results: vec![],
            message: Some(longest.into()),
            ..answer
        });
        let fitting = allowed.len();
        answer.results = budget.take_list(allowed);
        answer.message = message(total, closed, fitting - answer.results.len());
        Ok(answer)
    }
}

/// The remark about the results.
fn message(total: usize, closed: usize, left: usize) -> Option<String> {
    if total == 0 {
        return Some("No results. Try fewer, other or more general words.".to_owned());
    }
    let closed = (closed > 0).then(|| format!("{closed} of the results are of domains that may not be opened."));
    let left = (left > 0).then(|| format!("{left} more did not fit into the answer."));
    let all: Vec<_> = closed.into_iter().chain(left).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_are_left_out_are_counted() {
        assert_eq!(message(5, 0, 0), None);
        assert!(message(0, 0, 0).unwrap().starts_with("No results."));
        assert_eq!(message(5, 5, 0).unwrap(), "5 of the results are of domains that may not be opened.");
        let both = message(20, 2, 3).unwrap();
        assert_eq!(both, "2 of the results are of domains that may not be opened. 3 more did not fit into the answer.");
    }

    #[test]
    fn an_empty_or_endless_query_is_refused_before_anything_is_sent() {
        for query in [" \n".to_owned(), "\u{6f6e}".repeat(MAX_QUERY + 1)] {
            let args = Args::from_args(&["web-search"], &["--query", &query]).unwrap();
            let error = args.run(&Invocation::default()).err().unwrap();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--query", "{error:?}");
        }
    }
}
