//! A single request, with its redirects.

use std::{
    borrow::Cow,
    io::{self, Read, Write},
    time::{Duration, Instant},
};

use ragmaker_address::{
    Domains, Network,
    codes::{NAVIGATION_FAILED, TIMEOUT},
    without_credentials,
};
use ragmaker_tool::{Error, HostOptions};
use ureq::{
    Agent, Proxy,
    http::{HeaderMap, header},
    unversioned::{resolver::DefaultResolver, transport::DefaultConnector},
};
use url::Url;

use crate::{
    Response, Step, USER_AGENT,
    body::{self, BodyError, RESPONSE_TOO_LARGE},
    is_on_this_machine,
    resolver::{CheckedResolver, RefusedAddress},
};

/// The maximum number of redirects that are followed.
const REDIRECTS: usize = 10;

/// The media type of JSON.
const JSON: &str = "application/json";

/// The limits of a request.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum size in bytes of a body as it is received.
    pub body: u64,
    /// The maximum size in bytes of it decompressed.
    pub decompressed: u64,
    /// The maximum ratio of the decompressed to the received size of a body.
    pub ratio: u64,
    /// The maximum size in bytes of headers.
    pub headers: usize,
    /// The time limit for connecting.
    pub connect: Duration,
    /// The time limit for the whole request, including redirects and body.
    pub whole: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 20_000_000,
            decompressed: 100_000_000,
            ratio: 100,
            headers: 64 * 1024,
            connect: Duration::from_secs(10),
            whole: Duration::from_mins(1),
        }
    }
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct GetRequest<'a> {
    /// The address.
    pub url: &'a Url,
    /// The accepted media types.
    pub accept: &'a str,
    /// Further headers, which only the origin of `url` is sent.
    pub headers: &'a [(&'a str, &'a str)],
}

/// Fetches addresses within one policy; connections are kept and used again.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    domains: Domains,
    network: Network,
    limits: Limits,
    /// The address whose origin is sent the user name and password that it has.
    signed_in: Option<Url>,
    /// Whether a person configured the services that are requested: one of this machine is reached without the proxy.
    is_of_service: bool,
}

impl Client {
    /// A client within the policy of `host`; the host and port of `given` are allowed as [`Network::with`] says. Its
    /// user name and password are sent with each request to its origin.
    ///
    /// # Errors
    ///
    /// `ARGUMENT_ERROR` where an allowed domain is invalid.
    pub fn new(host: &HostOptions, given: Option<&Url>, limits: Limits) -> Result<Self, Error> {
        let domains = Domains::new(&host.allow_domain)?;
        // Where only public machines are wanted, no call names another one either.
        let given = given.filter(|_| !host.public_only);
        let network = given.into_iter().fold(Network::new(host), Network::with);
        let signed_in = given.filter(|url| matches!(without_credentials(url), Cow::Owned(_))).cloned();
        Ok(Self { signed_in, ..Self::with_policy(domains, network, limits) })
    }

    /// A client of services whose addresses a person configured: any machine, and no domain is refused.
    pub fn of_service(limits: Limits) -> Self {
        Self { is_of_service: true, ..Self::with_policy(Domains::default(), Network::all(), limits) }
    }

    fn with_policy(domains: Domains, network: Network, limits: Limits) -> Self {
        let proxy = Proxy::try_from_env();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // Each redirect is checked here before it is followed.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(limits.headers)
            .timeout_connect(Some(limits.connect))
            .user_agent(USER_AGENT)
            .accept_encoding("gzip")
            .proxy(proxy.clone());
        let proxy = proxy.map(|proxy| (proxy.host().to_owned(), proxy.port()));
        let resolver = CheckedResolver { network: network.clone(), proxy, inner: DefaultResolver::default() };
        let agent = Agent::with_parts(config.build(), DefaultConnector::default(), resolver);
        Self { agent, domains, network, limits, signed_in: None, is_of_service: false }
    }

    /// The limits of a request.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The machines that may be reached.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Refuses an address that this client must not request, as far as this can be decided without a request.
    ///
    /// # Errors
    ///
    /// The codes of [`ragmaker_address::ERRORS`] and [`ragmaker_address::ADDRESS_NOT_ALLOWED`].
    pub fn check(&self, url: &Url) -> Result<(), Error> {
        ragmaker_address::check(url)?;
        self.domains.check(url)?;
        self.network.check(url)
    }

    /// Fetches an address, following redirects. A user name or a password in it, or in the target of a redirect, is
    /// left out: those of pages are not this user's.
    ///
    /// # Errors
    ///
    /// Those of [`crate::ERRORS`] and [`ragmaker_address::ERRORS`]. A response with an error status is returned, too.
    pub fn get(&self, request: &GetRequest<'_>) -> Result<Response, Error> {
        self.get_following(request, &mut |_| Ok(()))
    }

    /// Like [`Client::get`]; `follow` may refuse redirects.
    ///
    /// # Errors
    ///
    /// As for [`Client::get`], and what `follow` returns.
    pub fn get_following(
        &self,
        request: &GetRequest<'_>,
        follow: &mut dyn FnMut(&Step) -> Result<(), Error>,
    ) -> Result<Response, Error> {
        let (sent, url, steps) = self.opened(request, follow)?;
        self.received(sent, url, steps)
    }

    /// Like [`Client::get`], but writes the body to `to` as it comes, and returns the response without it. A body that
    /// is encoded is refused.
    ///
    /// # Errors
    ///
    /// As for [`Client::get`]; `NAVIGATION_FAILED` if `to` cannot be written.
    pub fn download(&self, request: &GetRequest<'_>, to: &mut dyn Write) -> Result<Response, Error> {
        let (sent, url, steps) = self.opened(request, &mut |_| Ok(()))?;
        let (head, body) = sent.into_parts();
        if head.headers.contains_key(header::CONTENT_ENCODING) {
            return Err(failed(&url, "UNKNOWN_CONTENT_ENCODING", "it is encoded"));
        }
        let most = self.limits.body;
        let mut reader = body.into_with_config().limit(u64::MAX).reader().take(most.saturating_add(1));
        let size = io::copy(&mut reader, to).map_err(|error| self.broken(error, &url))?;
        if size > most {
            let error = RESPONSE_TOO_LARGE.error(format!("the server sends more than {most} bytes"));
            return Err(error.detail("limit", most).detail("url", url.as_str()));
        }
        Ok(Response { url, status: head.status.as_u16(), body: vec![], steps, headers: head.headers })
    }

    /// The response to a request after its redirects, before its body is read; its address and the redirects.
    fn opened(
        &self,
        request: &GetRequest<'_>,
        follow: &mut dyn FnMut(&Step) -> Result<(), Error>,
    ) -> Result<(ureq::http::Response<ureq::Body>, Url, Vec<Step>), Error> {
        let deadline = Instant::now() + self.limits.whole;
        let (mut url, mut steps) = (without_credentials(request.url).into_owned(), vec![]);
        loop {
            self.check(&url)?;
            let sent = self.send(request, &self.signed(&url), deadline)?;
            let status = sent.status().as_u16();
            if let Some(to) = redirect(status, sent.headers(), &url) {
                let to = without_credentials(&to).into_owned();
                if steps.len() == REDIRECTS {
                    return Err(NAVIGATION_FAILED
                        .error(format!("cannot open {}: more than {REDIRECTS} redirects", request.url))
                        .detail("url", request.url.as_str())
                        .detail("net_error", "TOO_MANY_REDIRECTS"));
                }
                self.check(&to)?;
                let step = Step { status, to };
                follow(&step)?;
                url = step.to.clone();
                steps.push(step);
                continue;
            }
            return Ok((sent, url, steps));
        }
    }

    /// Requests JSON from a service: by POST if there is a body, otherwise by GET. Redirects are not followed but
    /// returned, because an API key must be sent only to the configured address.
    ///
    /// # Errors
    ///
    /// As for [`Client::get`].
    pub fn ask(&self, url: &Url, headers: &[(&str, &str)], body: Option<&[u8]>) -> Result<Response, Error> {
        let deadline = Instant::now() + self.limits.whole;
        self.check(url)?;
        let Some(body) = body else {
            let sent = self.send(&GetRequest { url, accept: JSON, headers }, url, deadline)?;
            return self.received(sent, url.clone(), vec![]);
        };
        let mut call = self.agent.post(url.as_str()).header(header::ACCEPT, JSON).header(header::CONTENT_TYPE, JSON);
        for (name, value) in headers {
            call = call.header(*name, *value);
        }
        let config = call.config().timeout_global(Some(self.limits.whole));
        let config = if self.is_of_service && is_on_this_machine(url.as_str()) { config.proxy(None) } else { config };
        let sent = config.build().send(body).map_err(|error| self.error(&error, url))?;
        self.received(sent, url.clone(), vec![])
    }

    fn received(&self, sent: ureq::http::Response<ureq::Body>, url: Url, steps: Vec<Step>) -> Result<Response, Error> {
        let (head, body) = sent.into_parts();
        let encoding =
            head.headers.get(header::CONTENT_ENCODING).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let encoding = encoding.unwrap_or_default().into_owned();
        let reader = body.into_with_config().limit(u64::MAX).reader();
        let body = body::read(reader, &encoding, &self.limits).map_err(|broken| match broken {
            BodyError::TooLarge(error) => error.detail("url", url.as_str()),
            BodyError::Encoding(name) => failed(&url, "UNKNOWN_CONTENT_ENCODING", &format!("it is encoded in {name}")),
            BodyError::Io(error) => self.broken(error, &url),
        })?;
        Ok(Response { url, status: head.status.as_u16(), body, steps, headers: head.headers })
    }

    /// The error for a body that ended with `error`.
    fn broken(&self, error: io::Error, url: &Url) -> Error {
        match error.downcast::<ureq::Error>() {
            Ok(error) => self.error(&error, url),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => self.late(url),
            Err(error) => failed(url, "CONNECTION_LOST", &error.to_string()),
        }
    }

    fn send(
        &self,
        request: &GetRequest<'_>,
        url: &Url,
        deadline: Instant,
    ) -> Result<ureq::http::Response<ureq::Body>, Error> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(self.late(url));
        }
        let mut call = self.agent.get(url.as_str()).header(header::ACCEPT, request.accept);
        if url.origin() == request.url.origin() {
            for (name, value) in request.headers {
                call = call.header(*name, *value);
            }
        }
        let config = call.config().timeout_global(Some(left));
        let config = if self.is_of_service && is_on_this_machine(url.as_str()) { config.proxy(None) } else { config };
        config.build().call().map_err(|error| self.error(&error, url))
    }

    /// `url` with the user name and password for its origin.
    fn signed<'a>(&self, url: &'a Url) -> Cow<'a, Url> {
        let Some(own) = self.signed_in.as_ref().filter(|own| own.origin() == url.origin()) else {
            return Cow::Borrowed(url);
        };
        let mut signed = url.clone();
        // These fail only for addresses that cannot have any.
        let _ = signed.set_username(own.username());
        let _ = signed.set_password(own.password());
        Cow::Owned(signed)
    }

    fn late(&self, url: &Url) -> Error {
        let url = without_credentials(url);
        let seconds = self.limits.whole.as_secs_f32();
        TIMEOUT.error(format!("{url} did not finish its response within {seconds} s")).detail("url", url.as_str())
    }

    fn error(&self, error: &ureq::Error, url: &Url) -> Error {
        let url = &*without_credentials(url);
        match error {
            ureq::Error::Timeout(ureq::Timeout::Connect) => {
                let seconds = self.limits.connect.as_secs_f32();
                TIMEOUT.error(format!("no connection to {url} within {seconds} s")).detail("url", url.as_str())
            }
            ureq::Error::Timeout(_) => self.late(url),
            ureq::Error::Other(other) if other.is::<RefusedAddress>() => match other.downcast_ref() {
                Some(RefusedAddress(ip)) => ragmaker_address::refused(url, *ip),
                None => failed(url, "FAILED", &error.to_string()),
            },
            ureq::Error::HostNotFound => failed(url, "NAME_NOT_RESOLVED", "the host name cannot be resolved"),
            ureq::Error::Io(io) => match io.kind() {
                io::ErrorKind::ConnectionRefused => {
                    failed(url, "CONNECTION_REFUSED", "the server refused the connection")
                }
                io::ErrorKind::TimedOut => self.late(url),
                // What the system says of a name that it does not know.
                _ if io.to_string().contains("lookup address") => {
                    failed(url, "NAME_NOT_RESOLVED", "the host name cannot be resolved")
                }
                _ => failed(url, "CONNECTION_LOST", &format!("the connection failed: {io}")),
            },
            ureq::Error::LargeResponseHeader(..) => RESPONSE_TOO_LARGE
                .error(format!("the server sends more than {} bytes of headers", self.limits.headers))
                .detail("url", url.as_str())
                .detail("limit", self.limits.headers),
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => failed(url, "TLS_FAILED", &error.to_string()),
            ureq::Error::Protocol(_) => failed(url, "INVALID_RESPONSE", &format!("no proper HTTP: {error}")),
            other => failed(url, "FAILED", &other.to_string()),
        }
    }
}

fn failed(url: &Url, net_error: &str, why: &str) -> Error {
    NAVIGATION_FAILED
        .error(format!("cannot open {url}: {why}"))
        .detail("url", url.as_str())
        .detail("net_error", net_error)
}

/// The target of a redirect; `None` if the response is not a redirect.
fn redirect(status: u16, headers: &HeaderMap, from: &Url) -> Option<Url> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = String::from_utf8_lossy(headers.get(header::LOCATION)?.as_bytes());
    let mut to = from.join(location.trim()).ok()?;
    if to.fragment().is_none() {
        to.set_fragment(from.fragment());
    }
    Some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_keeps_the_fragment_unless_it_has_its_own() {
        let from = Url::parse("https://a.example/b/c#d").unwrap();
        let to = |status: u16, location: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::LOCATION, location.parse().unwrap());
            redirect(status, &headers, &from).map(String::from)
        };
        assert_eq!(to(301, " e ").as_deref(), Some("https://a.example/b/e#d"));
        assert_eq!(to(307, "//b.example/#f").as_deref(), Some("https://b.example/#f"));
        assert_eq!((to(304, "e"), to(302, "http://[")), (None, None));
        assert_eq!(redirect(302, &HeaderMap::new(), &from), None);
    }
}
