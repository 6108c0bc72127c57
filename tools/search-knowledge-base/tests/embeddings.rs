//! Ranking by words and embeddings: an endpoint on this machine answers over HTTP as `OpenAI` does.

use std::{fs, path::PathBuf, process::Command};

use ragmaker_config::{Config, Options};
use ragmaker_testkit::{
    Tree,
    scripted::{ReceivedRequest, Reply, Scripted},
};
use serde_json::{Value, json};

const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-search-knowledge-base");
const KEY: &str = "secret-key-1";

/// Words of one meaning are one dimension.
const MEANINGS: [[&str; 3]; 3] = [["moon", "lunar", "月"], ["boat", "ship", "vessel"], ["bread", "bakery", "loaf"]];

fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let count = |words: &[&str; 3]| words.iter().map(|word| text.matches(word).count()).sum::<usize>() as f32;
    MEANINGS.iter().map(count).chain([0.1]).collect()
}

/// The answer of an endpoint, with the last vector first: the index counts, not the order.
fn vectors(got: &ReceivedRequest) -> Reply {
    let texts = got.body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
    let item = |(index, text)| json!({"object": "embedding", "index": index, "embedding": vector(text)});
    let mut data: Vec<Value> = texts.enumerate().map(item).collect();
    data.reverse();
    Reply::status("200 OK", "", &json!({"object": "list", "data": data, "model": "m"}).to_string())
}

struct Case {
    tree: Tree,
    config: PathBuf,
}

impl Case {
    fn new() -> Self {
        let tree = Tree::new(TOOL);
        let pages = [
            ("tides", "The moon pulls the sea."),
            ("harbour", "A boat waits for high water."),
            ("bread", "A loaf needs an hour."),
        ];
        for (name, text) in pages {
            tree.write(&format!("kb/cache/{name}.md"), format!("# {name}\n\n{text}\n"));
        }
        let listed =
            pages.map(|(name, _)| json!({"url": format!("https://x.example/{name}"), "path": format!("{name}.md")}));
        tree.write("kb/cache/catalog.json", json!({"documents": listed}).to_string());
        let config = tree.root.join("../config");
        Self { tree, config }
    }

    fn with(url: &str) -> Self {
        let case = Self::new();
        case.configure(url);
        case
    }

    /// Sets the endpoint in the user's configuration.
    fn configure(&self, url: &str) {
        let text = format!("[search]\nembed_url = '{url}'\nembed_model = 'm'\nembed_api_key_env = 'EMBED_KEY'\n");
        fs::create_dir_all(self.config.join("ragmaker")).unwrap();
        fs::write(self.config.join("ragmaker/ragmaker.toml"), text).unwrap();
    }

    fn command(&self, query: &str) -> Command {
        let mut command = self.tree.command(&["--query", query, "--explain"]);
        command.env("XDG_CONFIG_HOME", &self.config).env("EMBED_KEY", KEY);
        command
    }

    fn run(mut command: Command) -> Value {
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{said}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains(KEY));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn search(&self, query: &str) -> Value {
        Self::run(self.command(query))
    }
}

fn citations(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["citation"].as_str().unwrap()).collect()
}

/// The texts that an endpoint was asked for, by request.
fn asked(endpoint: &Scripted) -> Vec<Vec<String>> {
    let texts = |got: &ReceivedRequest| serde_json::from_value(got.body["input"].clone()).unwrap();
    endpoint.requests().iter().map(texts).collect()
}

#[test]
fn a_part_is_found_by_its_meaning() {
    let endpoint = Scripted::with_script(vectors);
    let case = Case::with(&endpoint.url);
    let answer = case.search("lunar vessel water");
    // Both legs find the harbour; no document has the word "lunar".
    assert_eq!(citations(&answer)[0], "cache/harbour.md#harbour");
    assert_eq!(citations(&answer)[1], "cache/tides.md#tides");
    assert_eq!((&answer["coverage"], &answer["warning"]), (&json!(0.33), &Value::Null));
    assert_eq!(answer["ranking"]["embedded"], 3);
    let got = endpoint.requests();
    assert!(got.iter().all(|got| got.head.starts_with("POST /v1/embeddings ")));
    assert!(got.iter().all(|got| got.head.to_lowercase().contains(&format!("authorization: bearer {KEY}"))));
    assert!(got.iter().all(|got| got.body["model"] == "m"));
    // An embedding of no word of the documents changes nothing of the coverage.
    let answer = case.search("lunar");
    assert_eq!((citations(&answer)[0], &answer["coverage"]), ("cache/tides.md#tides", &json!(0.0)));
    assert_eq!(asked(&endpoint), [["lunar"]]);
}

#[test]
fn only_changed_parts_are_embedded_again() {
    let endpoint = Scripted::with_script(vectors);
    let case = Case::with(&format!("{}/v1", endpoint.url));
    case.search("moon");
    assert_eq!(asked(&endpoint).concat().len(), 4);
    case.tree.write("kb/cache/bread.md", "# bread\n\nA ship with flour.\n");
    let answer = case.search("vessel");
    assert_eq!(asked(&endpoint), [vec!["vessel".to_owned()], vec!["bread\n# bread\n\nA ship with flour.".to_owned()]]);
    assert!(citations(&answer)[..2].contains(&"cache/bread.md#bread"));
    // A touched document has the same text, and so its vector.
    let tides = fs::File::options().append(true).open(case.tree.root.join("kb/cache/tides.md")).unwrap();
    tides.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    case.search("moon");
    assert_eq!(asked(&endpoint), [["moon"]]);
    // Damaged or deleted vectors are made again.
    let file = case.tree.root.join("kb/cache/.search/vectors");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(case.search("moon")["warning"], Value::Null);
    assert_eq!(asked(&endpoint).concat().len(), 4);
    // Vectors of another model cannot be compared.
    let mut command = case.command("moon");
    command.env("RAGMAKER_EMBED_MODEL", "other");
    assert_eq!(Case::run(command)["warning"], Value::Null);
    assert_eq!(asked(&endpoint).concat().len(), 4);
}

#[test]
fn without_an_answer_of_the_endpoint_words_rank() {
    let item = |vector: &str| format!(r#"{{"data": [{{"index": 0, "embedding": {vector}}}]}}"#);
    let failures = [
        Reply::status("401 Unauthorized", "", &format!(r#"{{"error": {{"message": "bad key {KEY}"}}}}"#)),
        Reply::status("429 Too Many Requests", "retry-after: 600\r\n", "{}"),
        Reply::status("500 Internal Server Error", "", "oh"),
        Reply::status("302 Found", "location: http://127.0.0.1:9/\r\n", ""),
        Reply::status("200 OK", "", "<html>"),
        Reply::status("200 OK", "", r#"{"data": []}"#),
        Reply::status("200 OK", "", &item("[]")),
        Reply::status("200 OK", "", &item("[1e999]")),
        Reply::status("200 OK", "", &item(r#"["a"]"#)),
        Reply::status("200 OK", "content-length: 99\r\n", "{"),
        Reply { head: String::new(), ..Reply::default() },
    ];
    for failure in failures {
        let head = failure.head.clone();
        let endpoint = Scripted::with_script(move |_| failure.clone());
        let case = Case::with(&endpoint.url);
        let answer = case.search("moon");
        assert_eq!((citations(&answer), &answer["coverage"]), (vec!["cache/tides.md#tides"], &json!(1.0)), "{head}");
        let warning = answer["warning"].as_str().unwrap();
        assert!(warning.starts_with("ranked by words only: the embeddings endpoint failed: "), "{head}: {warning}");
        assert!(!case.tree.root.join("kb/cache/.search/vectors").exists());
    }
    let case = Case::with("http://127.0.0.1:9/v1");
    let answer = case.search("moon");
    assert_eq!((citations(&answer).len(), answer["warning"].is_string()), (1, true));
    // What is not valid in the configuration does not keep anyone from searching.
    fs::write(case.config.join("ragmaker/ragmaker.toml"), "[search]\nembed_url = 'ftp://x'\n").unwrap();
    let answer = case.search("moon");
    assert_eq!(citations(&answer).len(), 1);
    assert!(answer["warning"].as_str().unwrap().contains("search.embed_url"), "{answer}");
}

#[test]
fn a_refused_text_goes_without_a_vector() {
    let endpoint = Scripted::with_script(|got| {
        let is_refused = got.body["input"].to_string().contains("loaf");
        if is_refused { Reply::status("400 Bad Request", "", r#"{"error": "too long"}"#) } else { vectors(got) }
    });
    let case = Case::with(&endpoint.url);
    for _ in 0..2 {
        let answer = case.search("lunar");
        assert_eq!((citations(&answer)[0], &answer["warning"]), ("cache/tides.md#tides", &Value::Null));
    }
    // It is not asked for again.
    assert_eq!(asked(&endpoint).last().unwrap(), &["lunar"]);
}

#[test]
fn later_searches_embed_the_remaining_parts() {
    let endpoint = Scripted::with_script(vectors);
    let case = Case::with(&endpoint.url);
    let text = fs::read_to_string(case.config.join("ragmaker/ragmaker.toml")).unwrap();
    fs::write(case.config.join("ragmaker/ragmaker.toml"), text.clone() + "embed_budget_s = 0\n").unwrap();
    let answer = case.search("moon");
    assert_eq!(answer["warning"], "only 0 of 3 parts have a vector; each search adds more");
    assert_eq!((citations(&answer).len(), asked(&endpoint).len()), (1, 1));
    fs::write(case.config.join("ragmaker/ragmaker.toml"), text).unwrap();
    assert_eq!(case.search("moon")["warning"], Value::Null);
}

#[test]
fn a_project_does_not_choose_who_receives_the_documents() {
    let endpoint = Scripted::with_script(vectors);
    let case = Case::new();
    case.tree.write("ragmaker.toml", format!("[search]\nembed_url = '{}'\n", endpoint.url));
    let answer = case.search("moon");
    assert_eq!((citations(&answer).len(), asked(&endpoint).len()), (1, 0));
    let warning = answer["warning"].as_str().unwrap();
    assert!(warning.contains("search.embed_url") && warning.contains("confirm"), "{warning}");
    // As ragmaker-agent does it after a person's answer.
    let options = Options { user_folder: Some(case.config.join("ragmaker")), ..Options::default() };
    Config::load(&case.tree.root, &options).unwrap().confirm();
    assert_eq!((case.search("moon")["warning"].clone(), asked(&endpoint).is_empty()), (Value::Null, false));
    // A change is confirmed again, and so is a project's .env.
    case.tree.write("ragmaker.toml", format!("[search]\nembed_url = '{}/v1'\n", endpoint.url));
    assert!(case.search("moon")["warning"].is_string());
    case.tree.write("ragmaker.toml", "");
    case.tree.write(".env", format!("RAGMAKER_EMBED_URL={}\n", endpoint.url));
    assert!(case.search("moon")["warning"].is_string() && asked(&endpoint).is_empty());
    // The process's own environment is the person's.
    let mut command = case.command("moon");
    command.env("RAGMAKER_EMBED_URL", &endpoint.url);
    assert_eq!((Case::run(command)["warning"].clone(), asked(&endpoint).is_empty()), (Value::Null, false));
}

#[test]
fn filters_and_exclusions_apply_to_vectors() {
    let endpoint = Scripted::with_script(vectors);
    let case = Case::with(&endpoint.url);
    let total = |query: &str| case.search(query)["total"].as_u64().unwrap();
    assert_eq!((total("lunar"), total("lunar -moon")), (3, 2));
    assert_eq!(total("\"lunar\""), 0);
    let mut command = case.command("lunar");
    command.args(["--match", "tides"]);
    assert_eq!(citations(&Case::run(command)), ["cache/tides.md#tides"]);
}
