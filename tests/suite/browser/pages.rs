//! The page of a knowledge base in the real browser: hostile documents are shown and run nothing.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
};

use ragmaker_tests::visitor::Visitor;
use serde_json::{Value, json};

/// `ragmaker-show-knowledge-base --serve`, ended with the test.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(visitor: &Visitor) -> Self {
        let mut command: Command =
            visitor.project.tool("show-knowledge-base").args(["--kb-root", "kb", "--serve"]).into_command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        // It prints its answer and goes on.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut answer = String::new();
        while serde_json::from_str::<Value>(&answer).is_err() {
            answer += &lines.next().expect("an answer").unwrap();
        }
        let answer: Value = serde_json::from_str(&answer).unwrap();
        Self { child, url: answer["url"].as_str().unwrap().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A document that tries to run a script, or to load something, in each way that Markdown and HTML have.
fn hostile(beacon: &str) -> String {
    let steal = format!("document.title='pwned';parent.document.title='pwned';fetch('{beacon}/script')");
    [
        "# Low tide".to_owned(),
        format!("<script>{steal}</script>"),
        format!("</script><script>{steal}</script>"),
        format!("<img src={beacon}/img onerror=\"{steal}\"><svg onload=\"{steal}\"><iframe src=\"{beacon}/frame\"></iframe>"),
        format!("<link rel=stylesheet href={beacon}/css><style>@import '{beacon}/import';</style>"),
        format!("![picture]({beacon}/picture) ![x](javascript:{steal}) [a](javascript:{steal}) [b](data:text/html,<script>{steal}</script>)"),
        format!("[c](\"onmouseover=\"{steal}) <javascript:{steal}> [d](JaVaScRiPt:{steal} \"x\" onclick=\"{steal}\")"),
        format!("```html\n<script>{steal}</script>\n```"),
        format!("| <img src={beacon}/cell onerror=\"{steal}\"> | b |\n|---|---|\n| `<script>{steal}</script>` | {{{{script}}}} |"),
        format!("<meta http-equiv=refresh content=\"0;url={beacon}/refresh\"><base href=\"{beacon}/\"><form action={beacon}/form><button>x"),
        "The last line is shown.".to_owned(),
    ]
    .join("\n\n")
}

#[test]
fn a_hostile_document_runs_nothing() {
    let visitor = Visitor::with_browser();
    let beacon = visitor.site.url("/beacon");
    let text = hostile(&beacon);
    visitor.project.write("kb/cache/low.md", format!("---\nsource_url: \"{beacon}\"\ntitle: \"x\"\n---\n\n{text}"));
    let nasty = format!("</title></script><script>fetch('{beacon}/title')</script><img src={beacon}/title>");
    let catalog = json!({"title": format!("Tides {nasty}"), "summary": nasty, "source_url": "javascript:alert(1)",
        "documents": [{"url": format!("javascript:fetch('{beacon}/url')"), "title": format!("Low {nasty}"),
            "path": "low.md", "summary": nasty, "fetched_at": nasty, "status": "gone"}]});
    visitor.project.write("kb/cache/catalog.json", catalog.to_string());
    let server = Server::start(&visitor);
    let page = format!("{}#low.md", server.url);
    let answer = visitor.navigate(&page).args(["--limit", "50"]).run().answer().clone();
    assert_eq!(answer["title"], catalog["title"]);
    assert!(answer["links"].as_array().unwrap().iter().all(|link| link["href"].as_str().unwrap().starts_with("http")));
    // The page works: the list, the reader's head, and the text of the document in its frame.
    let shown = visitor.extract_open().args(["--selector", "body"]).run();
    let file = shown.answer()["file_path"].as_str().unwrap().to_owned();
    let saved = std::fs::read_to_string(file).unwrap();
    for part in ["1 document", "Size in words", "source has changed", "Search titles"] {
        assert!(saved.contains(part), "{part} is not in {saved}");
    }
    let asked: Vec<String> = visitor.site.requests().iter().map(|request| request.path.clone()).collect();
    assert!(!asked.iter().any(|request| request.contains("beacon")), "{asked:?}");
}

#[test]
fn only_this_machine_and_this_address_get_the_page() {
    let visitor = Visitor::new();
    visitor.project.write("kb/cache/catalog.json", r#"{"title": "T", "documents": []}"#);
    let server = Server::start(&visitor);
    let rest = server.url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_at(rest.find('/').unwrap());
    assert!(host.starts_with("127.0.0.1:"));
    let get = |request: String| {
        use std::{io::Write, net::TcpStream};
        let mut stream = TcpStream::connect(host).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap_or_default().to_owned()
    };
    for (request, status) in [
        (format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"), "200"),
        (format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "404"),
        (format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), "404"),
        (format!("POST {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"), "405"),
        ("\r\n\r\n".to_owned(), "405"),
    ] {
        assert!(get(request.clone()).contains(status), "{request}");
    }
}
