//! The endpoint of a model: its address, headers and wire format.

use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ragmaker_config::{Key, ModelSettings, Protocol, Provider, Redactor};
use serde_json::Value;

/// A model and how it is reached.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The provider.
    pub provider: Provider,
    /// The model's name; the deployment's with Azure.
    pub model: String,
    /// The provider's root, with or without `/v1` or `/v1beta`; empty for the provider's own.
    pub base_url: String,
    /// The key.
    pub key: Key,
    /// The variable that contains the key.
    pub key_variable: Option<String>,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// Further parameters of the URL.
    pub query: Vec<(String, String)>,
    /// The temperature; `None` for the provider's default.
    pub temperature: Option<f64>,
    /// The maximum number of tokens of an answer; `None` for the provider's default.
    pub max_output_tokens: Option<u64>,
    /// The time after which a silent connection is given up.
    pub timeout: Duration,
    /// The way in which tools are called.
    pub protocol: Protocol,
}

/// Whether an endpoint's list of models has the configured one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// It has.
    Yes,
    /// It has the models with these names.
    No(Vec<String>),
    /// The list does not say: it is of another form, or not whole.
    Unknown,
}

/// Characters that stay unescaped in a path or a value of a URL.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl Endpoint {
    /// The model `model`, with the defaults of everything else.
    pub fn new(provider: Provider, model: &str, base_url: &str, key: Key) -> Self {
        Self {
            provider,
            model: model.to_owned(),
            base_url: base_url.to_owned(),
            key,
            key_variable: None,
            headers: vec![],
            query: vec![],
            temperature: None,
            max_output_tokens: None,
            timeout: Duration::from_mins(2),
            protocol: Protocol::Auto,
        }
    }

    /// The model that the configuration names.
    pub fn configured(settings: ModelSettings) -> Self {
        Self {
            provider: settings.provider,
            model: settings.name,
            base_url: settings.base_url,
            key: settings.key,
            key_variable: settings.key_variable,
            headers: settings.headers,
            query: settings.query,
            temperature: Some(settings.temperature),
            max_output_tokens: Some(settings.max_output_tokens).filter(|most| *most > 0),
            timeout: Duration::from_secs(settings.timeout_s),
            protocol: settings.protocol,
        }
    }

    /// The keys that must not be in the text of an answer or an error.
    pub fn redactor(&self) -> Redactor {
        let mut redactor = Redactor::default();
        redactor.add(self.key.value());
        redactor.add_pairs(&self.headers);
        redactor.add_pairs(&self.query);
        redactor.add_url(&self.base_url);
        redactor
    }

    /// The URL of a streamed answer.
    pub(crate) fn url(&self) -> String {
        let (base, root) = self.roots();
        let mut query = self.query.clone();
        let path = match self.provider {
            Provider::Azure if base.ends_with("/openai/v1") => format!("{base}/chat/completions"),
            Provider::Azure => {
                add_azure_version(&mut query);
                let root = root.strip_suffix("/openai").unwrap_or(root);
                format!("{root}/openai/deployments/{}/chat/completions", escaped(&self.model))
            }
            Provider::Anthropic => format!("{root}/v1/messages"),
            Provider::Gemini => {
                query.push(("alt".to_owned(), "sse".to_owned()));
                let model = self.model.strip_prefix("models/").unwrap_or(&self.model);
                format!("{root}/v1beta/models/{}:streamGenerateContent", escaped(model))
            }
            // Gemini's own server of this format is below /v1beta/openai.
            _ if base.ends_with("/openai") => format!("{base}/chat/completions"),
            _ => format!("{root}/v1/chat/completions"),
        };
        with_query(path, &query)
    }

    /// The URL and the headers of a request for the list of models, as [`listed`](Self::listed) reads it. It costs no
    /// tokens, and shows whether the endpoint accepts the key.
    pub fn list_request(&self) -> (String, Vec<(String, String)>) {
        let (base, root) = self.roots();
        let mut query = self.query.clone();
        let path = match self.provider {
            Provider::Azure if base.ends_with("/openai/v1") => format!("{base}/models"),
            Provider::Azure => {
                add_azure_version(&mut query);
                format!("{}/openai/models", root.strip_suffix("/openai").unwrap_or(root))
            }
            Provider::Gemini => {
                query.push(("pageSize".to_owned(), "1000".to_owned()));
                format!("{root}/v1beta/models")
            }
            Provider::Anthropic => {
                query.push(("limit".to_owned(), "1000".to_owned()));
                format!("{root}/v1/models")
            }
            _ if base.ends_with("/openai") => format!("{base}/models"),
            _ => format!("{root}/v1/models"),
        };
        (with_query(path, &query), self.headers())
    }

    /// Whether the model is in `list`, which the endpoint answered to [`list_request`](Self::list_request).
    pub fn listed(&self, list: &Value) -> Listed {
        // Azure lists models. What is configured is the name of a deployment.
        let members = match self.provider {
            Provider::Azure => None,
            Provider::Gemini => list["models"].as_array().map(|models| (models, "name")),
            _ => list["data"].as_array().map(|models| (models, "id")),
        };
        let Some((models, key)) = members else { return Listed::Unknown };
        let plain = |name: &str| name.strip_prefix("models/").unwrap_or(name).to_owned();
        let names: Vec<String> = models.iter().filter_map(|model| model[key].as_str()).map(plain).collect();
        let own = plain(&self.model);
        // Ollama adds the tag that is the default.
        if names.iter().any(|name| *name == own || name.strip_suffix(":latest") == Some(&*own)) {
            return Listed::Yes;
        }
        let is_whole = list["nextPageToken"].as_str().is_none_or(str::is_empty) && list["has_more"] != true;
        if is_whole && !names.is_empty() { Listed::No(names) } else { Listed::Unknown }
    }

    /// The scheme, host and port, for messages: the rest may contain keys.
    pub(crate) fn address(&self) -> String {
        let (base, _) = self.roots();
        let (scheme, rest) =
            base.split_once("://").map_or(("", base), |(scheme, rest)| (&base[..scheme.len() + 3], rest));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        format!("{scheme}{host}")
    }

    /// The provider's address as it is configured, and without the version at its end.
    fn roots(&self) -> (&str, &str) {
        let own = match self.provider {
            Provider::OpenAi | Provider::Azure => "https://api.openai.com",
            Provider::Anthropic => "https://api.anthropic.com",
            Provider::Gemini => "https://generativelanguage.googleapis.com",
            Provider::Compatible => "http://127.0.0.1:11434",
        };
        let base = if self.base_url.trim().is_empty() { own } else { self.base_url.trim() }.trim_end_matches('/');
        (base, base.strip_suffix("/v1").or_else(|| base.strip_suffix("/v1beta")).unwrap_or(base))
    }

    /// The headers that a request needs beside its body's.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        let mut headers = vec![];
        let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
        if !self.key.is_empty() {
            match self.provider {
                Provider::Azure => add("api-key", self.key.value().to_owned()),
                Provider::Anthropic => add("x-api-key", self.key.value().to_owned()),
                Provider::Gemini => add("x-goog-api-key", self.key.value().to_owned()),
                Provider::OpenAi | Provider::Compatible => add("authorization", format!("Bearer {}", self.key.value())),
            }
        }
        if self.provider == Provider::Anthropic {
            add("anthropic-version", "2023-06-01".to_owned());
        }
        headers.extend(self.headers.iter().cloned());
        headers
    }
}

/// Adds the version of Azure's interface, if none is configured.
fn add_azure_version(query: &mut Vec<(String, String)>) {
    if !query.iter().any(|(name, _)| name == "api-version") {
        query.push(("api-version".to_owned(), "2024-10-21".to_owned()));
    }
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, UNRESERVED).to_string()
}

fn with_query(path: String, query: &[(String, String)]) -> String {
    let query: Vec<_> = query.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value))).collect();
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_root_is_the_same_with_and_without_its_version() {
        for (provider, base, url) in [
            (Provider::OpenAi, "", "https://api.openai.com/v1/chat/completions"),
            (Provider::Compatible, "http://h:1", "http://h:1/v1/chat/completions"),
            (Provider::Compatible, "http://h:1/v1/", "http://h:1/v1/chat/completions"),
            (Provider::Compatible, "https://h/api/v1", "https://h/api/v1/chat/completions"),
            (Provider::Compatible, "https://h/v1beta/openai/", "https://h/v1beta/openai/chat/completions"),
            (Provider::Anthropic, "http://h/v1", "http://h/v1/messages"),
            (Provider::Gemini, "http://h/v1beta", "http://h/v1beta/models/a%2Fb:streamGenerateContent?alt=sse"),
            (Provider::Gemini, "http://h", "http://h/v1beta/models/a%2Fb:streamGenerateContent?alt=sse"),
            (
                Provider::Azure,
                "https://x.openai.azure.com/",
                "https://x.openai.azure.com/openai/deployments/a%2Fb/chat/completions?api-version=2024-10-21",
            ),
            (
                Provider::Azure,
                "https://x.openai.azure.com/openai/v1",
                "https://x.openai.azure.com/openai/v1/chat/completions",
            ),
        ] {
            assert_eq!(Endpoint::new(provider, "a/b", base, Key::default()).url(), url);
        }
    }

    #[test]
    fn a_model_is_found_in_each_form_of_list() {
        let listed =
            |provider, model: &str, list: Value| Endpoint::new(provider, model, "", Key::default()).listed(&list);
        let data = json!({"object": "list", "data": [{"id": "gpt-5", "object": "model"}, {"id": "llama3:latest"}]});
        assert_eq!(listed(Provider::OpenAi, "gpt-5", data.clone()), Listed::Yes);
        assert_eq!(listed(Provider::Compatible, "llama3", data.clone()), Listed::Yes);
        let Listed::No(names) = listed(Provider::OpenAi, "gpt-6", data.clone()) else { panic!() };
        assert_eq!(names, ["gpt-5", "llama3:latest"]);
        let gemini = json!({"models": [{"name": "models/gemini-2.5-flash"}]});
        for model in ["gemini-2.5-flash", "models/gemini-2.5-flash"] {
            assert_eq!(listed(Provider::Gemini, model, gemini.clone()), Listed::Yes);
        }
        assert_eq!(listed(Provider::Gemini, "x", gemini), Listed::No(vec!["gemini-2.5-flash".to_owned()]));
        for part in [
            json!({"models": [{"name": "models/a"}], "nextPageToken": "t"}),
            json!({"models": []}),
            json!({}),
            json!([]),
        ] {
            assert_eq!(listed(Provider::Gemini, "x", part), Listed::Unknown);
        }
        let more = json!({"data": [{"id": "claude"}], "has_more": true});
        assert_eq!(listed(Provider::Anthropic, "x", more), Listed::Unknown);
        assert_eq!(listed(Provider::Azure, "mine", data), Listed::Unknown);
    }

    #[test]
    fn an_address_in_a_message_has_no_keys() {
        for (base, address) in [
            ("http://127.0.0.1:9/v1", "http://127.0.0.1:9"),
            ("https://me:secret@h.example/secret/v1?key=secret", "https://h.example"),
            ("127.0.0.1:9", "127.0.0.1:9"),
            ("", "https://api.openai.com"),
        ] {
            assert_eq!(Endpoint::new(Provider::OpenAi, "m", base, Key::default()).address(), address);
        }
    }

    #[test]
    fn a_key_is_not_shown() {
        let endpoint = Endpoint::new(Provider::Gemini, "m", "", Key::new("abc-123\n"));
        assert!(!format!("{endpoint:?}").contains("abc"));
        assert_eq!(endpoint.redactor().redacted("key abc-123 is wrong"), "key [key] is wrong");
    }
}
