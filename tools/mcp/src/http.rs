//! The server over HTTP: the protocol's streamable transport at `/mcp`.
//!
//! Whoever reaches the port can call the tools, so it is on loopback unless an address says
//! otherwise, and pages in a browser are kept out: requests that name another host, or come from
//! another origin, are refused.

use std::{
    convert::Infallible,
    error::Error,
    net::{Ipv4Addr, SocketAddr},
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use hyper::{HeaderMap, Request, Response, StatusCode, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use ragmaker_tool::json::{self, Charset};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::net::TcpListener;

use crate::{server::Server, sessions::Sessions};

/// The only address there is something at.
const PATH: &str = "/mcp";

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// How long nobody is let in after that failed: where there are no descriptors left, it fails at once.
const BREATH: Duration = Duration::from_millis(100);

/// Where to listen.
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
            return Err("it means every address of this machine; name one, or give a port alone, which is on \
                loopback, and reach it through a tunnel (ssh -L)"
                .to_owned());
        }
        Ok(Self(address))
    }
}

/// Serves at the address until the process is ended, and says on standard output where it is.
pub(crate) async fn serve(server: &Server, Listen(address): Listen) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let server = server.clone();
    let sessions = Arc::new(Sessions::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions.manager(), guarded(address));
    let url = format!("http://{address}{PATH}");
    json::write(&json!({"status": "success", "url": url}), Charset::Utf8, std::io::stdout().lock())?;
    loop {
        let Ok((connection, _)) = listener.accept().await else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let (service, sessions) = (service.clone(), Arc::clone(&sessions));
        let answer = service_fn(move |request: Request<Incoming>| {
            let (service, sessions) = (service.clone(), Arc::clone(&sessions));
            async move {
                if request.uri().path() != PATH {
                    let mut nothing = Response::default();
                    *nothing.status_mut() = StatusCode::NOT_FOUND;
                    return Ok::<_, Infallible>(nothing);
                }
                if let Some(id) = session(request.headers()) {
                    sessions.used(id).await;
                }
                let answer = service.handle(request).await;
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
        for (text, address) in [
            ("8765", "127.0.0.1:8765"),
            ("localhost:1", "127.0.0.1:1"),
            ("[::1]:8765", "[::1]:8765"),
            ("192.0.2.1:80", "192.0.2.1:80"),
        ] {
            assert_eq!(text.parse(), Ok(Listen(address.parse().unwrap())), "{text}");
        }
        for every in ["0.0.0.0:80", "[::]:80"] {
            assert!(every.parse::<Listen>().unwrap_err().contains("every address"), "{every}");
        }
        for bad in ["", "x", "70000", "127.0.0.1", "http://127.0.0.1:1"] {
            assert!(bad.parse::<Listen>().is_err(), "{bad}");
        }
    }
}
