//! The connection to an endpoint, and the failures of requests that never reached it.
//!
//! Some causes stay until a person corrects something: the request is not repeated. A local server may be starting, so a
//! refused connection is tried again, but only briefly.

use std::{
    io::{self, Read},
    sync::mpsc::SyncSender,
    time::Duration,
};

use ragmaker_http::{is_on_this_machine, retry_after};
use ragmaker_tool::Error;

use crate::{Endpoint, MODEL_AUTH_FAILED, MODEL_UNREACHABLE, error::Failure};

/// The time limit of a whole answer, as a multiple of the limit for silence.
pub(crate) const WHOLE: u32 = 10;

/// A message of the thread that reads the connection.
pub(crate) enum Part {
    Head { status: u16, retry_after: Option<Duration>, is_json: bool },
    Bytes(Vec<u8>),
    End,
    Failed(String),
    Unsent(Failure),
}

/// The client for requests to `endpoint`.
pub(crate) fn agent(endpoint: &Endpoint) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        // A key goes where the configuration says, and nowhere else.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(endpoint.timeout.min(Duration::from_secs(20))))
        .timeout_global(Some(endpoint.timeout * WHOLE))
        .user_agent(concat!("ragmaker/", env!("CARGO_PKG_VERSION")));
    // A proxy cannot reach a server of this machine, and many environments name one without `NO_PROXY`.
    let config = if is_on_this_machine(&endpoint.url()) { config.proxy(None) } else { config };
    config.build().into()
}

/// Reads the answer to its end, which is returned.
pub(crate) fn read(response: ureq::http::Response<ureq::Body>, sender: &SyncSender<Part>) -> Part {
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let head = Part::Head {
        status: response.status().as_u16(),
        retry_after: header("retry-after").and_then(|value| retry_after(&value)),
        is_json: header("content-type").is_some_and(|kind| kind.contains("json")),
    };
    if sender.send(head).is_err() {
        return Part::End;
    }
    let mut body = response.into_body().into_reader();
    let mut buffer = vec![0; 16 * 1024];
    loop {
        match body.read(&mut buffer) {
            Ok(0) => return Part::End,
            Ok(read) => {
                if sender.send(Part::Bytes(buffer[..read].to_vec())).is_err() {
                    return Part::End;
                }
            }
            Err(error) => return Part::Failed(format!("the connection was lost: {error}")),
        }
    }
}

/// The failure of a request to `address` that could not be sent.
pub(crate) fn failure(error: &ureq::Error, address: &str) -> Failure {
    let reason = format!("{address} cannot be reached: {error}");
    let lookup = match error {
        ureq::Error::Io(error) => lookup_failure(error),
        _ => None,
    };
    match error {
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => MODEL_UNREACHABLE
            .error(format!("{address:?} is not an address of an endpoint: {error}"))
            .remedy("Correct model.base_url (RAGMAKER_BASE_URL): it begins with http:// or https:// and a host.")
            .into(),
        ureq::Error::HostNotFound => unknown_host(reason).into(),
        _ if lookup == Some(Lookup::Unknown) => unknown_host(reason).into(),
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused || lookup.is_some() => {
            Failure::NotOpened { reason }
        }
        _ => Failure::Again { code: MODEL_UNREACHABLE, reason, wait: None },
    }
}

/// How the search for the address of a host failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lookup {
    /// There is no such host.
    Unknown,
    /// It is not known whether there is one.
    Unanswered,
}

/// The standard library has no kind of error for it.
fn lookup_failure(error: &io::Error) -> Option<Lookup> {
    let said = error.to_string();
    let reason = said.strip_prefix("failed to lookup address information")?.to_lowercase();
    let is_temporary = reason.contains("temporary") || reason.contains("try again");
    Some(if is_temporary { Lookup::Unanswered } else { Lookup::Unknown })
}

fn unknown_host(reason: String) -> Error {
    MODEL_UNREACHABLE
        .error(reason)
        .remedy("There is no such host: correct model.base_url (RAGMAKER_BASE_URL), or check the network.")
}

/// Refuses a key and headers that cannot be sent.
pub(crate) fn check_headers(endpoint: &Endpoint) -> Result<(), Error> {
    let can_be_sent = |text: &str| text.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
    let what = "a line break, another control character, or a character outside ASCII";
    if !can_be_sent(endpoint.key.value()) {
        let variable = endpoint.key_variable.as_deref().unwrap_or("the variable of the key");
        return Err(MODEL_AUTH_FAILED
            .error(format!("the key in {variable} cannot be sent: it contains {what}"))
            .remedy(format!("Set {variable} again to the key alone, in one line."))
            .detail("variable", variable));
    }
    let is_name = |name: &str| ureq::http::HeaderName::from_bytes(name.as_bytes()).is_ok();
    let reason = endpoint.headers.iter().find_map(|(name, value)| match (is_name(name), can_be_sent(value)) {
        (false, _) => Some(format!("{name:?} is not the name of a header")),
        (_, false) => Some(format!("the header {name:?} cannot be sent: it contains {what}")),
        _ => None,
    });
    match reason {
        Some(reason) => Err(MODEL_AUTH_FAILED.error(reason).remedy("Correct it in model.headers.")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_config::{Key, Provider};

    use super::*;

    #[test]
    fn only_what_may_pass_is_repeated() {
        let io = |text: &str| ureq::Error::Io(io::Error::other(text));
        let refused = || ureq::Error::Io(io::ErrorKind::ConnectionRefused.into());
        let lost = || ureq::Error::Io(io::ErrorKind::ConnectionReset.into());
        let lookup = "failed to lookup address information: ";
        let kind = |error: ureq::Error| match failure(&error, "http://h:1") {
            Failure::Final(error) => {
                assert!(error.is(MODEL_UNREACHABLE) && error.remediation().contains("model.base_url"), "{error}");
                assert!(error.message().contains("http://h:1"), "{error}");
                "final"
            }
            Failure::NotOpened { reason } => {
                assert!(reason.starts_with("http://h:1 cannot be reached: "), "{reason}");
                "brief"
            }
            Failure::Again { .. } => "again",
        };
        for (error, expected) in [
            (ureq::Error::BadUri("x".to_owned()), "final"),
            (ureq::Error::HostNotFound, "final"),
            (io(&format!("{lookup}Name or service not known")), "final"),
            (io(&format!("{lookup}nodename nor servname provided, or not known")), "final"),
            (io(&format!("{lookup}Temporary failure in name resolution")), "brief"),
            (refused(), "brief"),
            (lost(), "again"),
            (ureq::Error::ConnectionFailed, "again"),
        ] {
            let said = format!("{error:?}");
            assert_eq!(kind(error), expected, "{said}");
        }
    }

    #[test]
    fn a_key_that_no_header_can_have_is_named_not_shown() {
        for (key, is_sent) in [("sk-good_1", true), ("sk-bad\nkey", false), ("sk-潮汐", false), ("", true)] {
            let mut endpoint = Endpoint::new(Provider::OpenAi, "m", "", Key::new(key));
            endpoint.key_variable = Some("OPENAI_API_KEY".to_owned());
            let checked = check_headers(&endpoint);
            assert_eq!(checked.is_ok(), is_sent, "{key:?}");
            if let Err(error) = checked {
                assert!(error.is(MODEL_AUTH_FAILED) && error.remediation().contains("OPENAI_API_KEY"), "{error}");
                assert!(!error.to_string().contains("sk-"), "{error}");
            }
        }
        let mut endpoint = Endpoint::new(Provider::OpenAi, "m", "", Key::default());
        endpoint.headers = vec![("x-team".to_owned(), "潮".to_owned())];
        assert!(check_headers(&endpoint).unwrap_err().message().contains("x-team"));
        endpoint.headers = vec![("x team".to_owned(), "a".to_owned())];
        assert!(check_headers(&endpoint).unwrap_err().message().contains("x team"));
    }
}
