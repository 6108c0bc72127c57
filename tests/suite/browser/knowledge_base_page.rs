//! The page of a knowledge base in the real browser: hostile documents are shown and run nothing.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
};

use ragmaker_tests::{tabs::Tab, visitor::Visitor};
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
        // It prints its answer and continues.
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
fn only_the_exact_url_on_this_machine_gets_the_page() {
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

/// The page of a knowledge base, open in the browser.
struct OpenPage {
    tab: Tab,
    _server: Server,
}

impl OpenPage {
    /// The page of a knowledge base of three documents.
    fn new(visitor: &Visitor) -> Self {
        for (name, title, text) in [
            ("tides.md", "Tides", "The moon pulls the sea.\n\n## Neap\n\nThe moon and the sun pull across."),
            ("harbour.md", "Harbour", "A lamp for ships, whatever the moon does."),
            ("ja.md", "潮汐", "月は海を引く。ＡＰＩの説明。"),
        ] {
            let front =
                format!("---\nsource_url: \"https://x.example/{name}\"\ntitle: \"{title}\"\n---\n\n# {title}\n\n");
            visitor.project.write(&format!("kb/cache/{name}"), front + text + "\n");
        }
        let entry = |name: &str, title: &str, summary: &str| {
            json!({"url": format!("https://x.example/{name}"), "title": title, "path": name, "summary": summary,
                "fetched_at": "2026-01-02T03:04:05Z"})
        };
        let documents = [
            entry("tides.md", "Tides", "Why there are tides."),
            entry("harbour.md", "Harbour", ""),
            entry("ja.md", "潮汐", "海の満ち引き。"),
        ];
        let catalog = json!({"title": "The sea", "summary": "All of it.", "documents": documents});
        visitor.project.write("kb/cache/catalog.json", catalog.to_string());
        Self::open(visitor)
    }

    /// The page of the knowledge base in `kb`.
    fn open(visitor: &Visitor) -> Self {
        let server = Server::start(visitor);
        visitor.navigate(&server.url).run().answer();
        let mut tab = Tab::of(visitor.project.path(), &server.url);
        tab.value(&settled("document.documentElement.dataset.ready"));
        Self { tab, _server: server }
    }

    fn press(&mut self, keys: &[&str]) {
        self.tab.press(keys);
        self.tab.value(&settled("!document.querySelector('[aria-busy]')"));
    }

    fn text(&mut self, expression: &str) -> String {
        self.tab.value(&format!("String({expression})")).as_str().unwrap().to_owned()
    }

    fn titles(&mut self) -> String {
        self.text("[...document.querySelectorAll('.card .title')].map(one => one.textContent)")
    }

    /// The accessible name of what has the focus.
    fn focused(&mut self) -> String {
        self.text("document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.innerText")
    }

    /// The accessibility properties: role, name and whether it can have the focus.
    fn spoken(&mut self) -> Vec<(String, String, bool)> {
        let tree = self.tab.command("Accessibility.getFullAXTree", &json!({}));
        let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
        let node = |node: &Value| {
            let mut properties = node["properties"].as_array().into_iter().flatten();
            let focusable = properties.any(|one| one["name"] == "focusable" && one["value"]["value"] == true);
            (text(&node["role"]), text(&node["name"]), focusable)
        };
        tree["nodes"].as_array().unwrap().iter().filter(|one| one["ignored"] != true).map(node).collect()
    }
}

/// A promise for when `condition` holds in the page.
fn settled(condition: &str) -> String {
    format!("new Promise(done => {{ const wait = () => {condition} ? done(true) : setTimeout(wait, 5); wait(); }})")
}

#[test]
fn the_page_is_used_with_keys_alone() {
    let visitor = Visitor::with_browser();
    let mut page = OpenPage::new(&visitor);
    assert_eq!(page.titles(), "Tides,Harbour,潮汐");
    // A search as it is typed: each key narrows, a removed one widens.
    page.press(&["/", "m", "o", "o", "n"]);
    assert_eq!((page.focused().as_str(), page.titles().as_str()), ("query", "Tides,Harbour"));
    assert_eq!(page.text("document.getElementById('status').textContent"), "2 of 3 documents");
    page.press(&[" ", "l", "a", "m", "p"]);
    assert_eq!(page.titles(), "Harbour");
    assert_eq!(page.text("[...document.querySelectorAll('.line mark')].map(one => one.textContent)"), "lamp,moon");
    page.press(&["Backspace"; 5]);
    assert_eq!(page.titles(), "Tides,Harbour");
    // The best is opened and read; the next ones with a letter each.
    let frame = "document.getElementById('frame').contentDocument";
    let name = "document.getElementById('name').textContent";
    let marks = format!("{frame}.querySelectorAll('mark').length");
    page.press(&["Enter"]);
    page.tab.value(&settled(&format!("{frame}.querySelector('main h2')")));
    assert_eq!((page.focused().as_str(), page.text(name).as_str()), ("name", "Tides"));
    assert_eq!(page.text(&marks), "2");
    page.press(&["j"]);
    page.tab.value(&settled(&format!("{frame}.body.textContent.includes('lamp')")));
    assert_eq!(page.text(name), "Harbour");
    page.press(&["k"]);
    assert_eq!(page.text(name), "Tides");
    page.press(&["Escape"]);
    assert_eq!(page.text("document.getElementById('reader').hidden"), "true");
    assert!(page.focused().starts_with("Tides"));
    // Nothing of this is a document.
    page.press(&["/", "z", "z"]);
    assert_eq!(page.text("document.getElementById('none').hidden"), "false");
    page.press(&["Enter"]);
    assert_eq!(page.text("document.getElementById('reader').hidden"), "true");
    page.press(&["Escape"]);
    assert_eq!(page.titles(), "Tides,Harbour,潮汐");
    // Widths of characters do not matter.
    page.press(&["a", "p", "i"]);
    assert_eq!(page.titles(), "潮汐");
    page.press(&["Escape"]);

    // With the Tab key every control comes up, once; a chart's bar is pressed with the space bar.
    page.tab.value("document.activeElement.blur()");
    let mut controls = vec![];
    for _ in 0..30 {
        page.press(&["Tab"]);
        let control = page.focused();
        if controls.contains(&control) {
            break;
        }
        if control.starts_with("Fetched in: 2026-01") {
            page.press(&[" "]);
            assert_eq!(page.text("document.activeElement.getAttribute('aria-pressed')"), "true");
            page.press(&[" "]);
            assert_eq!(page.text("document.activeElement.getAttribute('aria-pressed')"), "false");
        }
        controls.push(control);
    }
    for control in [
        "theme",
        "Overview",
        "Size in words: under 100",
        "Fetched in: 2026-01",
        "Hosts: x.example",
        "query",
        "order",
        "Tides",
        "Harbour",
        "潮汐",
    ] {
        assert!(controls.iter().any(|one| one.starts_with(control)), "{control}: {controls:?}");
    }
}

#[test]
fn a_long_list_is_complete_and_goes_on_where_it_was() {
    let visitor = Visitor::with_browser();
    let names: Vec<String> = (0..230).map(|number| format!("Gauge {number:03}")).collect();
    let documents: Vec<Value> = names
        .iter()
        .map(|name| json!({"url": "https://x.example/", "title": name, "path": format!("{name}.md")}))
        .collect();
    for name in &names {
        visitor.project.write(&format!("kb/cache/{name}.md"), format!("# {name}\n\nThe water level.\n"));
    }
    visitor.project.write("kb/cache/catalog.json", json!({"title": "Gauges", "documents": documents}).to_string());
    let mut page = OpenPage::open(&visitor);
    let cards = |count: usize| settled(&format!("document.querySelectorAll('.card').length >= {count}"));
    page.tab.value(&cards(100));
    assert_eq!(page.titles(), names[..100].join(","));
    // The list is not made anew: the reader of its end stays there.
    let more = "(() => { const box = document.querySelector('.browse'); box.scrollTop = box.scrollHeight; \
                const before = box.scrollTop; document.getElementById('more').click(); return box.scrollTop - before; })()";
    assert_eq!(page.text(more), "0");
    page.tab.value(&cards(200));
    assert_eq!(page.titles(), names[..200].join(","));
    assert_eq!(page.text("document.getElementById('more').textContent"), "Show 30 more");
    page.text(more);
    page.tab.value(&cards(230));
    assert_eq!(page.titles(), names.join(","));
    assert_eq!(page.text("document.getElementById('more').hidden"), "true");
    page.press(&["/", "w", "a", "t", "e", "r"]);
    page.tab.value(&cards(100));
    assert_eq!(page.titles(), names[..100].join(","));
}

#[test]
fn every_control_has_a_name_in_every_state() {
    let visitor = Visitor::with_browser();
    let mut page = OpenPage::new(&visitor);
    let check = |page: &mut OpenPage| {
        let spoken = page.spoken();
        let nameless: Vec<_> = spoken
            .iter()
            .filter(|(role, name, focusable)| *focusable && name.is_empty() && role != "generic")
            .collect();
        assert!(nameless.is_empty(), "{nameless:?}");
        let count = |role: &str| spoken.iter().filter(|(own, ..)| own == role).count();
        assert_eq!((count("main"), count("search"), count("status")), (1, 1, 1), "{spoken:?}");
        assert!(spoken.iter().filter(|(role, ..)| role == "heading").all(|(_, name, _)| !name.is_empty()));
        spoken
    };
    let spoken = check(&mut page);
    for (role, name) in [
        ("heading", "The sea"),
        ("searchbox", "Search titles, summaries and texts"),
        ("combobox", "Order of documents"),
        ("combobox", "Theme"),
        ("button", "Hosts: x.example, 3 documents"),
        ("main", "Documents"),
    ] {
        assert!(
            spoken.iter().any(|(own, label, _)| own == role && label.starts_with(name)),
            "{role} {name}: {spoken:?}"
        );
    }
    page.press(&["/", "m", "o", "o", "n", "Enter"]);
    let spoken = check(&mut page);
    for (role, name) in
        [("article", "Tides"), ("button", "← Back"), ("link", "Open the source"), ("Iframe", "Text of the document")]
    {
        assert!(
            spoken.iter().any(|(own, label, _)| own == role && label.starts_with(name)),
            "{role} {name}: {spoken:?}"
        );
    }
    assert_eq!(page.text("document.documentElement.lang"), "en");
    page.press(&["Escape"]);
    // A telephone: nothing is wider than the screen, and the reader takes its whole width.
    let narrow = json!({"width": 360, "height": 640, "deviceScaleFactor": 2, "mobile": true});
    page.tab.command("Emulation.setDeviceMetricsOverride", &narrow);
    assert_eq!(page.text("document.scrollingElement.scrollWidth <= 360"), "true");
    page.press(&["j"]);
    assert_eq!(page.text("document.scrollingElement.scrollWidth <= 360"), "true");
    assert_eq!(page.text("document.querySelector('.browse').offsetWidth"), "0");
    page.press(&["Escape"]);
    // Text can be read in both colours: WCAG asks for a contrast of 4.5.
    for colours in ["light", "dark"] {
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": colours}]});
        page.tab.command("Emulation.setEmulatedMedia", &media);
        assert_eq!(page.text(CONTRAST), "", "{colours}");
    }
}

/// The pairs of colours of the page whose contrast is too low.
const CONTRAST: &str = "(() => {
  const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const luminance = (name) => {
    probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...probe.getImageData(0, 0, 1, 1).data].map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((m, n) => n - m); return (x + .05) / (y + .05); };
  const pairs = ['--ink', '--soft', '--warn', '--bad'].flatMap(text => ['--paper', '--card', '--chosen'].map(ground => [text, ground]));
  return pairs.filter(pair => contrast(...pair) < 4.5).map(pair => `${pair} ${contrast(...pair).toFixed(2)}`).join('; ');
})()";
