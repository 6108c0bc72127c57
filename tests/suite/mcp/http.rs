//! `ragmaker-mcp --http`: sessions, limits, and refused clients.

use std::{
    io::{BufRead, BufReader, Read},
    net::TcpStream,
    process::Child,
};

use super::*;

/// A server over HTTP, which ends with this, its port, and the header that its token makes.
struct HttpServer(Child, u16, String);

impl HttpServer {
    fn start(project: &Project) -> Self {
        Self::by(server(project, &["--http", "0"]))
    }

    fn by(mut server: Command) -> Self {
        let mut server = server.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok);
        let said: Value =
            serde_json::from_str(&(lines.take_while(|line| line != "}").collect::<String>() + "}")).unwrap();
        let port = said["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:").unwrap();
        let authorization = said["token_file"].as_str().map_or_else(String::new, |file| {
            format!("Authorization: Bearer {}\r\n", fs::read_to_string(file).unwrap().trim())
        });
        Self(server, port.strip_suffix("/mcp").unwrap().parse().unwrap(), authorization)
    }

    /// Posts a message with `headers`; the status of the answer, and the answer.
    fn post(&self, path: &str, headers: &str, message: &Value) -> (u16, String) {
        self.post_text(path, headers, &message.to_string())
    }

    fn post_text(&self, path: &str, headers: &str, body: &str) -> (u16, String) {
        let mut connection = TcpStream::connect(("127.0.0.1", self.1)).unwrap();
        let port = self.1;
        let host = if headers.contains("Host:") { String::new() } else { format!("Host: localhost:{port}\r\n") };
        let authorization = if headers.contains("Authorization:") { "" } else { &self.2 };
        write!(
            connection,
            "POST {path} HTTP/1.1\r\n{host}{authorization}{headers}Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn hello() -> Value {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

#[test]
fn a_session_calls_tools() {
    let project = project_with_files();
    let server = HttpServer::start(&project);
    let headers = session(&server);
    server.post("/mcp", &headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let params = json!({"name": "read_file", "arguments": {"path": "notes/a.txt"}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let (status, answer) = server.post("/mcp", &headers, &call);
    assert!(status == 200 && answer.contains("one\\ntwo\\nthree"), "{answer}");
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    let project = project_with_files();
    let server = HttpServer::start(&project);
    let headers = session(&server);
    server.post("/mcp", &headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let call = r#"{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "read_file", "arguments": {"path": "page.html", "path": "notes/a.txt"}}}"#;
    let (status, answer) = server.post_text("/mcp", &headers, call);
    assert!(status == 200 && answer.contains("path was given more than once"), "{answer}");
    // No body of any size is kept in memory.
    let (status, _) = server.post_text("/mcp", &headers, &" ".repeat(5 << 20));
    assert_eq!(status, 413);
}

#[test]
fn a_body_that_is_no_message_is_answered_as_on_standard_input() {
    let project = project_with_files();
    let server = HttpServer::start(&project);
    let headers = session(&server);
    for body in ["{\"jsonrpc\": \"2.0\", \"id\"", "7", ""] {
        let (status, answer) = server.post_text("/mcp", &headers, body);
        assert!(status == 400 && answer.contains("\"code\":-32700"), "{body}: {answer}");
    }
    let (status, answer) = server.post("/mcp", &headers, &json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}));
    assert!(status == 200 && answer.contains("read_file"), "{answer}");
}

/// Opens a session, and returns the headers that name it.
fn session(server: &HttpServer) -> String {
    let (status, answer) = server.post("/mcp", "", &hello());
    assert!(status == 200 && answer.contains("ragmaker-mcp"), "{answer}");
    let header =
        answer.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned));
    format!("Mcp-Session-Id: {}\r\nMcp-Protocol-Version: 2025-11-25\r\n", header.unwrap())
}

#[test]
fn a_call_needs_the_token() {
    let project = Project::new();
    let server = HttpServer::start(&project);
    let token = server.2.trim().rsplit(' ').next().unwrap().to_owned();
    for value in ["", "Bearer ", "Bearer x", &format!("Basic {token}"), &format!("Bearer {token}0"), &token] {
        let (status, answer) = server.post("/mcp", &format!("Authorization: {value}\r\n"), &hello());
        assert!(status == 401 && answer.to_ascii_lowercase().contains("www-authenticate: bearer"), "{value}: {answer}");
    }
    assert_eq!(server.post("/nothing", "Authorization: \r\n", &hello()).0, 401);
    assert_eq!(server.post("/mcp", &format!("Authorization: bearer {token}\r\n"), &hello()).0, 200);

    // The file is the owner's alone, and a second server has another token.
    let file = project.path().join(".tmp/cache/mcp_token");
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), token);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    drop(server);
    assert_ne!(HttpServer::start(&project).2, format!("Authorization: Bearer {token}\r\n"));

    // A file that is named is made once and kept.
    let outside = Project::new();
    let named = outside.path().join("token").to_str().unwrap().to_owned();
    let readable = project.path().join("token");
    let refused = project.tool("mcp").args(["--http", "0", "--token-file"]).arg(&readable).run();
    assert_eq!(refused.error("ARGUMENT_ERROR")["details"]["argument"], "--token-file");
    let start = || HttpServer::by(super::server(&project, &["--http", "0", "--token-file", &named]));
    let first = start().2.clone();
    assert!(!first.is_empty() && start().2 == first);

    let open = HttpServer::by(super::server(&project, &["--http", "0", "--no-token"]));
    assert_eq!((open.2.as_str(), open.post("/mcp", "", &hello()).0), ("", 200));
}

#[test]
fn abandoned_sessions_are_evicted() {
    let project = Project::new();
    let server = HttpServer::start(&project);
    let said = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let (left, kept) = (session(&server), session(&server));
    for _ in 0..3 {
        for _ in 0..100 {
            session(&server);
        }
        assert_eq!(server.post("/mcp", &kept, &said).0, 202);
    }
    assert_eq!(server.post("/mcp", &left, &said).0, 404);
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_without_descriptors_waits_for_one() {
    let project = Project::new();
    let server = server(&project, &["--http", "0"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 24; exec \"$0\" \"$@\""]).arg(server.get_program()).args(server.get_args());
    shell.current_dir(project.path());
    let server = HttpServer::by(shell);
    let connections: Vec<_> = (0..40).map(|_| TcpStream::connect(("127.0.0.1", server.1)).unwrap()).collect();
    // In ticks of 10 ms, in user mode and in the system's.
    let spent = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", server.0.id())).unwrap();
        let fields = stat.rsplit(") ").next().unwrap().split(' ').skip(11).take(2);
        fields.map(|ticks| ticks.parse::<u64>().unwrap()).sum::<u64>()
    };
    let before = spent();
    thread::sleep(Duration::from_secs(1));
    let busy = spent() - before;
    assert!(busy < 30, "{busy} ticks of a hundred");
    drop(connections);
    assert_eq!(server.post("/mcp", "", &hello()).0, 200);
}

#[test]
fn requests_of_other_origins_are_refused() {
    let project = Project::new();
    let server = HttpServer::start(&project);
    let port = server.1;
    for (headers, expected) in [
        (format!("Origin: http://localhost:{port}\r\n"), 200),
        (format!("Host: 127.0.0.1:{port}\r\n"), 200),
        ("Origin: http://evil.example\r\n".to_owned(), 403),
        (format!("Origin: http://evil.example:{port}\r\n"), 403),
        ("Origin: http://localhost:1\r\n".to_owned(), 403),
        ("Origin: null\r\n".to_owned(), 403),
        (format!("Host: evil.example:{port}\r\n"), 403),
        ("Host: localhost:1\r\n".to_owned(), 403),
    ] {
        let (status, answer) = server.post("/mcp", &headers, &hello());
        assert_eq!(status, expected, "{headers}{answer}");
    }
    assert_eq!(server.post("/", "", &hello()).0, 404);
    assert!(TcpStream::connect(("127.0.0.2", port)).is_err(), "it listens on loopback's first address alone");
}

#[test]
fn an_address_that_cannot_be_used_is_refused() {
    let project = Project::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    project.tool("mcp").args(["--http", &address]).run().error("CONNECTION_FAILED");
    for bad in ["none", "99999", "127.0.0.1", "0.0.0.0:0", "[::]:0"] {
        project.tool("mcp").args(["--http", bad]).run().error("ARGUMENT_ERROR");
    }
}

#[test]
fn options_for_the_token_that_would_have_no_effect_are_refused() {
    let project = Project::new();
    for (line, argument) in [
        (&["--token-file", "token"][..], "--token-file"),
        (&["--no-token"], "--no-token"),
        (&["--http", "0", "--no-token", "--token-file", "token"], "--no-token"),
    ] {
        let run = project.tool("mcp").args(line).stdin("").run();
        assert_eq!(run.error("ARGUMENT_ERROR")["details"]["argument"], argument, "{line:?}");
    }
}
