//! The server over HTTP: the protocol's streamable transport at `/mcp`.
//!
//! The server listens on the loopback interface. Every local user and process can connect to the port, so each request
//! needs a bearer token from a file that only its owner can read. Requests of pages in a browser are refused: those
//! with another host, or from another origin.

use std::{
    convert::Infallible,
    error::Error,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use http_body_util::{BodyExt, Full, Limited, combinators::BoxBody};
use hyper::{
    HeaderMap, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use ragmaker_files::Roots;
use ragmaker_tool::{
    ARGUMENT_ERROR, HostOptions,
    json::{self, Charset},
};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{duplicate_keys, server::Server, sessions::Sessions, stdio, token::Token};

/// The only path that the server answers.
const PATH: &str = "/mcp";

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// The delay after a connection could not be accepted: without free descriptors, accepting fails at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The address to listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listen(SocketAddr);

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let on_loopback = |port| SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
        let address = text.parse().or_else(|_| text.replace("localhost:", "127.0.0.1:").parse());
        let address = address.or_else(|_| text.parse().map(on_loopback));
        let address = address.map_err(|_| "expected a port or an address such as 127.0.0.1:8765".to_owned())?;
        if address.ip().is_unspecified() {
            // Requests have to name the address, and nobody can name this one.
            return Err("it means every address of this machine, and the server listens on loopback only; give a \
                port alone, and reach it through a tunnel (ssh -L)"
                .to_owned());
        }
        if !address.ip().is_loopback() {
            return Err("it is not on the loopback interface; reach the server through a tunnel (ssh -L)".to_owned());
        }
        Ok(Self(address))
    }
}

/// The token of a server: the one in `file`, or a new one in the project's cache folder.
pub(crate) fn token(file: Option<&Path>, host: &HostOptions) -> Result<Token, ragmaker_tool::Error> {
    match file {
        Some(file) => {
            // A model would read the token. A link is followed, and the folder counts if there is no file yet.
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let place = ragmaker_fs::canonicalize(file).or_else(|_| ragmaker_fs::canonicalize(folder));
            let roots = Roots::discover(host)?;
            if let Some(root) =
                roots.all().iter().find(|root| place.as_ref().is_ok_and(|at| at.starts_with(&root.path)))
            {
                let (file, root) = (file.display(), root.path.display());
                return Err(ARGUMENT_ERROR
                    .error(format!("the tools can read the token file {file}, because it is in {root}"))
                    .remedy("Name a file outside of the project and of the allowed directories.")
                    .detail("argument", "--token-file"));
            }
            Token::at(file)
        }
        None => Token::made(&crate::scope::cache_folder(host)?.join(ragmaker_project::MCP_TOKEN)),
    }
}

/// Serves at the address until the process is ended, and prints the URL and the file of the token. Without a `token`,
/// everybody who can connect may call.
pub(crate) async fn serve(
    server: &Server,
    Listen(address): Listen,
    token: Option<Token>,
) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let server = server.clone();
    let sessions = Arc::new(Sessions::default());
    let config = guarded(address);
    let most = config.max_request_body_bytes;
    let service = StreamableHttpService::new(move || Ok(server.for_another_client()), sessions.manager(), config);
    let url = format!("http://{address}{PATH}");
    let token_file = token.as_ref().map(|token| token.file.to_string_lossy());
    let started = json!({"status": "success", "url": url, "token_file": token_file});
    json::write(&started, Charset::Utf8, std::io::stdout().lock())?;
    let token = Arc::new(token);
    loop {
        let Ok((connection, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (service, sessions, token) = (service.clone(), Arc::clone(&sessions), Arc::clone(&token));
        let answer = service_fn(move |request: Request<Incoming>| {
            let (service, sessions, token) = (service.clone(), Arc::clone(&sessions), Arc::clone(&token));
            async move {
                let authorization = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
                if token.as_ref().as_ref().is_some_and(|token| !token.admits(authorization)) {
                    let mut refused = Response::default();
                    *refused.status_mut() = StatusCode::UNAUTHORIZED;
                    refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                    return Ok::<_, Infallible>(refused);
                }
                if request.uri().path() != PATH {
                    let mut nothing = Response::default();
                    *nothing.status_mut() = StatusCode::NOT_FOUND;
                    return Ok(nothing);
                }
                if let Some(id) = session(request.headers()) {
                    sessions.used(id).await;
                }
                let is_json = is_json(request.headers());
                let (head, body) = request.into_parts();
                // Read here, since the SDK reads it as a map: see `duplicate_keys`.
                let Ok(body) = Limited::new(body, most).collect().await else {
                    let mut refused = Response::default();
                    *refused.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
                    return Ok(refused);
                };
                let body = Full::new(noted(body.to_bytes()));
                let mut answer = service.handle(Request::from_parts(head, body)).await;
                if is_json && answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
                    answer = not_a_message();
                }
                // It is said once: when it is opened.
                if let Some(id) = session(answer.headers()) {
                    sessions.opened(id).await;
                }
                Ok(answer)
            }
        });
        let connection =
            http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(connection), answer);
        tokio::spawn(connection);
    }
}

/// The body of a request, with a note if it is a call with a duplicate key in its arguments.
fn noted(body: Bytes) -> Bytes {
    let Ok(mut message) = serde_json::from_slice::<Value>(&body) else { return body };
    if duplicate_keys::note(&mut message, &body) { message.to_string().into() } else { body }
}

/// Whether the request says that its body is JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|header| header.to_str().ok()).unwrap_or_default();
    media_type.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// The answer to a body of JSON that is not a message: a JSON-RPC error with status 400. The SDK answers
/// 415, which blames the media type, and no error object.
fn not_a_message() -> Response<BoxBody<Bytes, Infallible>> {
    let error = stdio::error(&Value::Null, stdio::PARSE_ERROR, "the body is not a JSON-RPC message");
    let mut answer = Response::new(Full::from(error.to_string()).boxed());
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

/// Lets in who names this server as its host and, being a page, was served by it.
fn guarded(address: SocketAddr) -> StreamableHttpServerConfig {
    let mut hosts = vec![address.ip().to_string()];
    if address.ip().is_loopback() {
        hosts.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
    }
    let bracketed = |host: &String| if host.contains(':') { format!("[{host}]") } else { host.clone() };
    let authority = |host| format!("{}:{}", bracketed(host), address.port());
    let authorities: Vec<String> = hosts.iter().map(authority).collect();
    let origins: Vec<String> = authorities.iter().map(|authority| format!("http://{authority}")).collect();
    let config = StreamableHttpServerConfig::default().with_allowed_hosts(authorities);
    config.with_allowed_origins(origins).enforce_origin_validation()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_on_loopback() {
        for (text, address) in
            [("8765", "127.0.0.1:8765"), ("localhost:1", "127.0.0.1:1"), ("[::1]:8765", "[::1]:8765")]
        {
            assert_eq!(text.parse(), Ok(Listen(address.parse().unwrap())), "{text}");
        }
        for every in ["0.0.0.0:80", "[::]:80"] {
            assert!(every.parse::<Listen>().unwrap_err().contains("every address"), "{every}");
        }
        assert!("192.0.2.1:80".parse::<Listen>().unwrap_err().contains("loopback"));
        for bad in ["", "x", "70000", "127.0.0.1", "http://127.0.0.1:1"] {
            assert!(bad.parse::<Listen>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_token_is_in_no_directory_that_the_tools_can_read() {
        let temp = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = temp.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            folder
        };
        let [project, allowed, other] = ["project", "allowed", "other"].map(folder);
        let host = HostOptions {
            project_root: Some(project.to_string_lossy().into_owned()),
            allow_root: vec![allowed.to_string_lossy().into_owned()],
            ..HostOptions::default()
        };
        for readable in [&project, &allowed] {
            let refused = token(Some(&readable.join("token")), &host).err().unwrap();
            assert!(refused.is(ARGUMENT_ERROR) && refused.message().contains("can read the token file"), "{refused}");
        }
        let file = other.join("token");
        assert_eq!(token(Some(&file), &host).unwrap().file, file);
        #[cfg(unix)]
        {
            std::fs::rename(&file, allowed.join("token")).unwrap();
            std::os::unix::fs::symlink(allowed.join("token"), &file).unwrap();
            assert!(token(Some(&file), &host).is_err_and(|refused| refused.message().contains("can read")));
        }
    }
}
