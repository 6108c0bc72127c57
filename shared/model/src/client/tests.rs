//! Failures of an endpoint, without one.

use ragmaker_config::Key;

use super::*;

fn client(temperature: Option<f64>) -> Client {
    Client::new(Endpoint {
        provider: Provider::OpenAi,
        model: "m".to_owned(),
        base_url: "http://127.0.0.1:1".to_owned(),
        key: Key::new("sk-secret-123"),
        key_variable: None,
        headers: vec![],
        query: vec![],
        temperature,
        max_output_tokens: None,
        timeout: Duration::from_secs(1),
        protocol: Protocol::Auto,
    })
}

/// The code for an answer with a status, and whether the request is sent again.
fn refused(client: &Client, status: u16, body: &str) -> (&'static str, bool) {
    match client.refused(status, None, body.as_bytes()) {
        Failure::Final(error) => {
            assert!(!error.message().contains("sk-secret-123") && error.details()["http_status"] == status, "{error}");
            (error.code(), false)
        }
        Failure::Again { code, .. } => (code.name(), true),
        Failure::NotOpened { .. } => panic!("the connection was open"),
    }
}

#[test]
fn a_status_decides_whether_it_is_tried_again() {
    for (status, body, expected) in [
        (429, "", ("MODEL_RATE_LIMITED", true)),
        (408, "", ("MODEL_UNREACHABLE", true)),
        (503, "<html>", ("MODEL_UNREACHABLE", true)),
        (401, "{\"error\": {\"message\": \"bad key sk-secret-123\"}}", ("MODEL_AUTH_FAILED", false)),
        (403, "", ("MODEL_AUTH_FAILED", false)),
        (400, "[{\"error\": {\"message\": \"API key not valid\"}}]", ("MODEL_AUTH_FAILED", false)),
        (413, "", ("CONTEXT_TOO_LONG", false)),
        (400, "{\"error\": {\"message\": \"maximum context length is 4096 tokens\"}}", ("CONTEXT_TOO_LONG", false)),
        (404, "\u{6f6e}", ("MODEL_ANSWER_INVALID", false)),
        (302, "", ("MODEL_ANSWER_INVALID", false)),
    ] {
        assert_eq!(refused(&client(None), status, body), expected, "{status} {body}");
    }
}

#[test]
fn a_model_with_a_fixed_temperature_is_asked_once_more() {
    let body = "{\"error\": {\"message\": \"Unsupported value: 'temperature'\"}}";
    let (with, without) = (client(Some(0.0)), client(None));
    assert_eq!(refused(&with, 400, body), ("MODEL_ANSWER_INVALID", true));
    assert_eq!(refused(&with, 400, body), ("MODEL_ANSWER_INVALID", false));
    assert_eq!(refused(&without, 400, body), ("MODEL_ANSWER_INVALID", false));
}

#[test]
fn a_person_is_told_when_to_ask_again() {
    let of =
        |seconds: Option<u64>| given_up(MODEL_RATE_LIMITED, "too many".to_owned(), 3, seconds.map(Duration::from_secs));
    assert_eq!((of(None).message(), &of(None).details()["attempts"]), ("too many", &3.into()));
    let soon = of(Some(30));
    assert!(
        soon.message() == "too many" && soon.remediation().contains("30 s") && soon.details()["retry_after_s"] == 30
    );
    assert!(of(Some(600)).message().ends_with("it asks to wait 600 s, more than the maximum of 120 s"));
}

#[test]
fn a_cancelled_request_is_not_sent() {
    let cancel = Cancel::default();
    cancel.clone().cancel();
    let request = Request { system: "", messages: &[], tools: &Declarations::default() };
    let error = client(None).complete(&request, &cancel, &mut |_| panic!("nothing is shown")).unwrap_err();
    assert!(error.is(CANCELLED) && cancel.is_cancelled());
    cancel.reset();
    assert!(cancelled(&cancel).is_ok());
}
