//! `ragmaker-web-search` from outside: each engine against a server that speaks its API.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::Output,
    sync::mpsc::{Receiver, channel},
    thread,
};

use ragmaker_testkit::Tree;
use serde_json::{Value, json};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-web-search");

const KEY: &str = "secret-key-1";

/// A server that gives each request the next answer, and hands over the request.
struct Server {
    url: String,
    requests: Receiver<(String, Value)>,
}

impl Server {
    fn new(answers: Vec<(&'static str, Value)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        thread::spawn(move || {
            for (status, body) in answers {
                let (stream, _) = listener.accept().unwrap();
                let _ = sender.send(serve(stream, status, &body.to_string()));
            }
        });
        Self { url, requests }
    }

    fn request(&self) -> (String, Value) {
        self.requests.recv().unwrap()
    }
}

fn serve(mut stream: TcpStream, status: &str, answer: &str) -> (String, Value) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let length = answer.len();
    let head_of_answer = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all((head_of_answer + answer).as_bytes()).unwrap();
    (head, serde_json::from_slice(&body).unwrap_or_default())
}

/// A project whose engine is at `url`.
fn configured(engine: &str, url: &str) -> Tree {
    let tree = Tree::new(TOOL);
    let text = format!("[search]\nengine = \"{engine}\"\nbase_url = \"{url}\"\ngoogle_engine_id = \"cx-1\"\n");
    tree.write("ragmaker.toml", text);
    tree
}

fn run(tree: &Tree, more: &[&str]) -> Output {
    let mut command = tree.command(&[&["--query", "spring tide 潮"], more].concat());
    for name in ["TAVILY_API_KEY", "BRAVE_API_KEY", "GOOGLE_SEARCH_API_KEY"] {
        command.env(name, KEY);
    }
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "RAGMAKER_ALLOWED_DOMAINS"] {
        command.env_remove(name);
    }
    // Nobody's own configuration.
    command.env("XDG_CONFIG_HOME", tree.root.join("nowhere")).output().unwrap()
}

fn answer(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn error(output: &Output) -> Value {
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains(KEY), "{text}");
    serde_json::from_str(&text).unwrap()
}

/// The answer of each engine for two pages.
fn found(engine: &str) -> Value {
    let (one, two) = ("https://example.com/tides", "https://example.org/moon?a=1");
    match engine {
        "tavily" => json!({"query": "x", "results": [
            {"title": "Tides", "url": one, "content": "High\nwater", "score": 0.9, "published_date": "2026-01-02"},
            {"title": "Moon", "url": two, "content": "Pull", "score": 0.5},
            {"title": "no page", "url": "ftp://example.com/", "content": ""},
        ]}),
        "google" => json!({"searchInformation": {"totalResults": "2"}, "items": [
            {"title": "Tides", "link": one, "snippet": "High water",
             "pagemap": {"metatags": [{"article:published_time": "2026-01-02"}]}},
            {"title": "Moon", "link": two, "snippet": "Pull"},
        ]}),
        "searxng" => json!({"query": "x", "number_of_results": 0, "results": [
            {"title": "Tides", "url": one, "content": "High water", "publishedDate": "2026-01-02", "engine": "x"},
            {"title": "Moon", "url": two, "content": "Pull", "publishedDate": null},
        ], "unresponsive_engines": []}),
        _ => json!({"type": "search", "web": {"results": [
            {"title": "Tides", "url": one, "description": "<strong>High</strong> water", "page_age": "2026-01-02"},
            {"title": "Moon", "url": two, "description": "Pull"},
        ]}}),
    }
}

#[test]
fn each_engine_is_asked_in_its_own_way() {
    for engine in ["tavily", "google", "searxng", "brave"] {
        let server = Server::new(vec![("200 OK", found(engine))]);
        let tree = configured(engine, &server.url);
        let answer = answer(&run(&tree, &[]));
        let expected = json!([
            {"title": "Tides", "url": "https://example.com/tides", "snippet": "High water", "published": "2026-01-02"},
            {"title": "Moon", "url": "https://example.org/moon?a=1", "snippet": "Pull", "published": null},
        ]);
        assert_eq!((&answer["results"], &answer["engine"], &answer["total"]), (&expected, &json!(engine), &json!(2)));
        assert!(answer["message"].is_null() && answer["query"] == "spring tide 潮");
        let (head, body) = server.request();
        let query = "q=spring+tide+%E6%BD%AE";
        match engine {
            "tavily" => {
                assert!(
                    head.starts_with("POST /search ") && head.contains("authorization: Bearer secret-key-1"),
                    "{head}"
                );
                assert_eq!((&body["query"], &body["max_results"]), (&json!("spring tide 潮"), &json!(5)));
            }
            "google" => {
                assert!(head.starts_with("GET /customsearch/v1?") && head.contains(query), "{head}");
                assert!(head.contains("key=secret-key-1&cx=cx-1") && head.contains("num=5&start=1"), "{head}");
            }
            "searxng" => {
                assert!(head.starts_with("GET /search?") && head.contains(query) && head.contains("format=json"));
                assert!(!head.contains(KEY), "{head}");
            }
            _ => {
                assert!(head.starts_with("GET /res/v1/web/search?") && head.contains("count=5"), "{head}");
                assert!(head.contains("x-subscription-token: secret-key-1"), "{head}");
            }
        }
    }
}

#[test]
fn no_hit_is_a_success_with_a_message() {
    for (engine, none) in [
        ("tavily", json!({"results": []})),
        ("google", json!({"searchInformation": {"totalResults": "0"}})),
        ("searxng", json!({"results": []})),
        ("brave", json!({"type": "search", "query": {}})),
    ] {
        let server = Server::new(vec![("200 OK", none)]);
        let answer = answer(&run(&configured(engine, &server.url), &[]));
        assert_eq!((&answer["results"], &answer["total"]), (&json!([]), &json!(0)), "{engine}");
        assert!(answer["message"].as_str().unwrap().starts_with("No results"));
    }
}

#[test]
fn a_searxng_whose_engines_are_silent_has_failed() {
    let silent = json!([["brave", "Suspended: too many requests"], ["bing", "HTTP error"]]);
    let none = json!({"query": "x", "number_of_results": 0, "results": [], "unresponsive_engines": silent});
    let server = Server::new(vec![("200 OK", none)]);
    let output = run(&configured("searxng", &server.url), &[]);
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["error_code"], "SEARCH_FAILED");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("brave (Suspended: too many requests), bing (HTTP error)"), "{message}");
    // With a hit, the others do not matter.
    let mut some = found("searxng");
    some["unresponsive_engines"] = json!([["brave", "timeout"]]);
    let server = Server::new(vec![("200 OK", some)]);
    assert_eq!(answer(&run(&configured("searxng", &server.url), &[]))["total"], 2);
}

/// A real `SearXNG`, whose address `SEARXNG_URL` holds and which offers JSON.
#[test]
#[ignore = "needs a running SearXNG: CONTRIBUTING.md says how to start one"]
fn a_real_searxng_answers() {
    let url = std::env::var("SEARXNG_URL").expect("SEARXNG_URL is the address of a SearXNG");
    let answer = answer(&run(&configured("searxng", &url), &[]));
    let results = answer["results"].as_array().unwrap();
    assert!(!results.is_empty() && results.len() <= 5, "{answer}");
    for hit in results {
        let text = |name: &str| hit[name].as_str().unwrap_or_default();
        assert!(text("url").starts_with("http") && !text("title").is_empty(), "{hit}");
        assert!(!text("title").contains('<') && !text("snippet").contains('<'), "{hit}");
    }
}

#[test]
fn google_is_asked_again_for_more_than_ten() {
    let page = |from: usize, count: usize| {
        let items: Vec<_> = (from..from + count)
            .map(|n| json!({"title": n.to_string(), "link": format!("https://example.com/{n}"), "snippet": ""}))
            .collect();
        ("200 OK", json!({"items": items}))
    };
    let server = Server::new(vec![page(0, 10), page(10, 2)]);
    let answer = answer(&run(&configured("google", &server.url), &["--limit", "12"]));
    assert_eq!(answer["results"].as_array().unwrap().len(), 12);
    let heads = [server.request().0, server.request().0];
    assert!(heads[0].contains("num=10&start=1") && heads[1].contains("num=2&start=11"), "{heads:?}");
}

#[test]
fn a_refusal_has_a_code_and_never_the_key() {
    let said = |text: &str| json!({"error": {"message": format!("{text} {KEY}")}});
    for (engine, status, body, code) in [
        (
            "tavily",
            "401 No",
            json!({"detail": {"error": "Unauthorized: missing or invalid API key."}}),
            "SEARCH_AUTH_FAILED",
        ),
        ("tavily", "432 Over", json!({"detail": {"error": "plan"}}), "SEARCH_RATE_LIMITED"),
        ("google", "400 Bad", said("API key not valid."), "SEARCH_AUTH_FAILED"),
        ("google", "403 No", json!({"error": {"errors": [{"reason": "rateLimitExceeded"}]}}), "SEARCH_RATE_LIMITED"),
        ("google", "403 No", said("forbidden"), "SEARCH_AUTH_FAILED"),
        (
            "brave",
            "422 No",
            json!({"error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": KEY}}),
            "SEARCH_AUTH_FAILED",
        ),
        ("brave", "429 Slow", said("slow"), "SEARCH_RATE_LIMITED"),
        ("searxng", "403 No", json!(null), "SEARCH_FAILED"),
        ("searxng", "500 Oops", json!({"error": "broken"}), "SEARCH_FAILED"),
        ("searxng", "302 Found", json!({}), "SEARCH_FAILED"),
        ("searxng", "200 OK", json!("no results"), "SEARCH_FAILED"),
        ("brave", "200 OK", json!({"web": 7}), "SEARCH_FAILED"),
    ] {
        let server = Server::new(vec![(status, body)]);
        let error = error(&run(&configured(engine, &server.url), &[]));
        assert_eq!((&error["error_code"], &error["details"]["engine"]), (&json!(code), &json!(engine)), "{error}");
    }
    let error = error(&run(&configured("google", "http://127.0.0.1:1"), &[]));
    assert_eq!(error["error_code"], "SEARCH_FAILED");
}

#[test]
fn missing_settings_are_named() {
    let tree = Tree::new(TOOL);
    tree.write("ragmaker.toml", "[search]\napi_key_env = \"MY_KEY\"\n");
    let missing = |more: &[&str]| {
        let error = error(&run(&tree, more));
        assert_eq!(error["error_code"], "SEARCH_NOT_CONFIGURED");
        assert!(error["remediation_suggestion"].as_str().unwrap().contains("ragmaker-http-fetch"));
        (error["details"]["key"].as_str().unwrap().to_owned(), error["details"]["variable"].as_str().map(str::to_owned))
    };
    assert_eq!(missing(&[]), ("search.api_key_env".to_owned(), Some("MY_KEY".to_owned())));
    assert_eq!(missing(&["--engine", "searxng"]).0, "search.base_url");
    assert_eq!(missing(&["--engine", "google"]).0, "search.google_engine_id");
    tree.write("ragmaker.toml", "[search]\nengin = \"x\"\n");
    let invalid = error(&run(&tree, &[]));
    assert_eq!((&invalid["error_code"], &invalid["details"]["line"]), (&json!("CONFIG_INVALID"), &json!(2)));
}

#[test]
fn results_of_closed_domains_are_left_out() {
    let server = Server::new(vec![("200 OK", found("tavily"))]);
    let answer = answer(&run(&configured("tavily", &server.url), &["--allow-domain", "example.org"]));
    assert_eq!(answer["results"].as_array().unwrap().len(), 1);
    assert_eq!(answer["results"][0]["url"], "https://example.org/moon?a=1");
    assert!(answer["message"].as_str().unwrap().starts_with("1 of the results"));
}

#[test]
fn an_answer_of_any_size_stays_within_its_limit() {
    let long = |n: usize| json!({"title": "潮".repeat(5_000), "url": format!("https://example.com/{n}"), "content": "汐\u{1b}[31m".repeat(9_000)});
    let server = Server::new(vec![("200 OK", json!({"results": (0..20).map(long).collect::<Vec<_>>()}))]);
    let tree = configured("searxng", &server.url);
    let output = run(&tree, &["--limit", "20"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.chars().count() < 29_000 && !text.contains('\u{1b}'), "{}", text.chars().count());
    assert!(answer(&output)["results"].as_array().unwrap().len() > 10);
    for query in ["", "  "] {
        assert_eq!(tree.error(&["--query", query]).0, "ARGUMENT_ERROR");
    }
    assert_eq!(tree.error(&["--query", &"x".repeat(1_001)]).0, "ARGUMENT_ERROR");
    assert_eq!(tree.error(&["--query", "x", "--engine", "bing"]).0, "ARGUMENT_ERROR");
}
