//! Clients of the scripted endpoint.

use std::time::Duration;

use ragmaker_model::{Client, Endpoint, Key, Provider, Retries};
use ragmaker_testkit::scripted::Scripted;

/// A client that does not wait long.
pub(crate) fn client(scripted: &Scripted, provider: Provider) -> Client {
    client_with(scripted, provider, |_| ())
}

pub(crate) fn client_with(scripted: &Scripted, provider: Provider, change: impl FnOnce(&mut Endpoint)) -> Client {
    let mut endpoint = Endpoint::new(provider, "scripted", &scripted.url, Key::new("secret-key"));
    change(&mut endpoint);
    let (first, longest) = (Duration::from_millis(2), Duration::from_millis(8));
    Client::new(endpoint).with_retries(Retries { most: 4, backoff: ragmaker_http::Backoff { first, longest } })
}
