//! The configured embeddings endpoint, which makes vectors of texts. Its format is `OpenAI`'s, which Ollama, llama.cpp,
//! vLLM and LM Studio serve as well.

use std::time::{Duration, Instant};

use ragmaker_config::{Config, EmbedSettings, Options, Redactor};
use ragmaker_http::{Client, Limits};
use ragmaker_index::{EmbeddingKind, Embeddings};
use ragmaker_project::Project;
use ragmaker_tool::Invocation;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

/// The time limits of a request and of a connection.
const REQUEST: Duration = Duration::from_secs(20);
const CONNECT: Duration = Duration::from_secs(3);
/// The time limit for retrying the texts of a rejected request one by one.
const ONE_BY_ONE: Duration = Duration::from_secs(20);
/// The maximum number of dimensions of a vector.
const MAX_DIMENSIONS: usize = 1 << 14;
/// The longest part of an endpoint's message in an error, in characters.
const MAX_MESSAGE: usize = 200;

/// An endpoint.
pub(crate) struct Endpoint {
    settings: EmbedSettings,
    url: Url,
    client: Client,
    redactor: Redactor,
    /// The identity of comparable vectors.
    pub(crate) name: String,
}

/// The reason why there are no vectors.
enum EmbeddingFailure {
    /// The endpoint rejects these texts, but may accept others.
    Refused(String),
    /// The endpoint does not work.
    Final(String),
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

impl Endpoint {
    /// The configured endpoint, if there is one. Without a project, there is none.
    ///
    /// # Errors
    /// The reason why it cannot be used. The search then ranks by words.
    pub(crate) fn configured(invocation: &Invocation) -> Result<Option<Self>, String> {
        let Ok(project) = Project::discover(invocation.host.project_root.as_deref()) else { return Ok(None) };
        let options = Options::of_process(project.root(), invocation.host.config.as_deref());
        let config = options.and_then(|options| Config::load(project.root(), &options));
        config.map_err(|error| error.to_string())?.embeddings()?.map(Self::new).transpose()
    }

    /// The time limit of a search for embedding documents.
    pub(crate) fn budget(&self) -> Duration {
        self.settings.budget
    }

    /// # Errors
    /// The reason why its address is invalid.
    fn new(settings: EmbedSettings) -> Result<Self, String> {
        let mut url = Url::parse(&settings.url).map_err(|error| format!("search.embed_url is not a URL: {error}"))?;
        let path = url.path().trim_end_matches('/').to_owned();
        // The URL may be the root, with or without /v1, or the complete URL.
        match path.rsplit('/').next() {
            Some("embeddings") => {}
            Some("") | None => url.set_path("/v1/embeddings"),
            Some(_) => url.set_path(&format!("{path}/embeddings")),
        }
        let mut redactor = Redactor::default();
        redactor.add(settings.key.value());
        let client = Client::of_service(Limits { connect: CONNECT, whole: REQUEST, ..Limits::default() });
        let name = [url.as_str(), &settings.model, &settings.document_prefix].join("\n");
        Ok(Self { settings, url, client, redactor, name })
    }

    /// The vectors of `texts`.
    ///
    /// # Errors
    /// The reason why there are none.
    pub(crate) fn embed(&self, kind: EmbeddingKind, texts: &[&str]) -> Result<Embeddings, String> {
        let prefix = match kind {
            EmbeddingKind::Query => &self.settings.query_prefix,
            EmbeddingKind::Document => &self.settings.document_prefix,
        };
        let texts: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        match self.ask(&texts) {
            Ok(vectors) => Ok(vectors.into_iter().map(Some).collect()),
            Err(EmbeddingFailure::Refused(_)) if kind == EmbeddingKind::Document => self.one_by_one(&texts),
            Err(EmbeddingFailure::Refused(why) | EmbeddingFailure::Final(why)) => Err(why),
        }
    }

    /// Sends the texts one by one. A text that is rejected is halved once, and then has no vector.
    fn one_by_one(&self, texts: &[String]) -> Result<Embeddings, String> {
        let until = Instant::now() + ONE_BY_ONE;
        let mut vectors = vec![];
        for text in texts {
            if Instant::now() > until {
                return Err("it refuses one text after another".to_owned());
            }
            let half = &text[..text.floor_char_boundary(text.len() / 2)];
            let mut vector = None;
            for part in [text.as_str(), half] {
                match self.ask(&[part.to_owned()]) {
                    Ok(own) => vector = own.into_iter().next(),
                    Err(EmbeddingFailure::Refused(_)) => continue,
                    Err(EmbeddingFailure::Final(why)) => return Err(why),
                }
                break;
            }
            vectors.push(vector);
        }
        Ok(vectors)
    }

    fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingFailure> {
        let mut body = json!({"input": texts, "encoding_format": "float"});
        if !self.settings.model.is_empty() {
            body["model"] = self.settings.model.as_str().into();
        }
        let bearer = format!("Bearer {}", self.settings.key.value());
        let headers = [("authorization", bearer.as_str())];
        let headers = if self.settings.key.is_empty() { &[][..] } else { &headers };
        let answer = self.client.ask(&self.url, headers, Some(body.to_string().as_bytes()));
        let response = answer.map_err(|error| EmbeddingFailure::Final(self.redactor.redacted(&error.to_string())))?;
        if response.status != 200 {
            let why = format!("it answered {}: {}", response.status, self.error_message(&response.body));
            // llama.cpp answers 500 for a text that is longer than its batch.
            let is_of_text = matches!(response.status, 400 | 413 | 422 | 500);
            return Err(if is_of_text { EmbeddingFailure::Refused(why) } else { EmbeddingFailure::Final(why) });
        }
        let answer: Answer = serde_json::from_slice(&response.body)
            .map_err(|error| EmbeddingFailure::Final(format!("its answer is not one of embeddings: {error}")))?;
        in_order(answer.data, texts.len()).map_err(|why| EmbeddingFailure::Final(why.to_owned()))
    }

    fn error_message(&self, body: &[u8]) -> String {
        let text = String::from_utf8_lossy(body);
        let parsed: Value = serde_json::from_str(&text).unwrap_or_default();
        let message = ["/error/message", "/error", "/message"].iter().find_map(|path| parsed.pointer(path)?.as_str());
        let line = message.unwrap_or(&text).split_whitespace().collect::<Vec<_>>().join(" ");
        self.redactor.redacted(&line).chars().take(MAX_MESSAGE).collect()
    }
}

/// The vectors of `count` texts, all of the same length and finite.
fn in_order(items: Vec<Item>, count: usize) -> Result<Vec<Vec<f32>>, &'static str> {
    let mut vectors = vec![vec![]; count];
    for Item { index, embedding } in items {
        let place = vectors.get_mut(index).filter(|place| place.is_empty());
        *place.ok_or("its answer is for other texts than the requested ones")? = embedding;
    }
    let length = vectors.first().map_or(0, Vec::len);
    let fits = |vector: &Vec<f32>| vector.len() == length && vector.iter().all(|number| number.is_finite());
    if length == 0 || length > MAX_DIMENSIONS || !vectors.iter().all(fits) {
        return Err("its answer has no vector of numbers for each text");
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_one_vector_for_each_text() {
        let item = |index, embedding: &[f32]| Item { index, embedding: embedding.to_vec() };
        assert_eq!(in_order(vec![item(1, &[2.0]), item(0, &[1.0])], 2), Ok(vec![vec![1.0], vec![2.0]]));
        for items in [
            vec![],
            vec![item(0, &[1.0])],
            vec![item(0, &[1.0]), item(0, &[1.0])],
            vec![item(0, &[1.0]), item(2, &[1.0])],
            vec![item(0, &[1.0]), item(1, &[1.0, 2.0])],
            vec![item(0, &[1.0]), item(1, &[f32::NAN])],
            vec![item(0, &[]), item(1, &[])],
        ] {
            assert!(in_order(items, 2).is_err());
        }
    }

    #[test]
    fn the_address_may_be_a_root() {
        for (given, asked) in [
            ("http://127.0.0.1:1", "http://127.0.0.1:1/v1/embeddings"),
            ("http://h:1/v1/", "http://h:1/v1/embeddings"),
            ("https://h/api/v1/embeddings?api-version=2", "https://h/api/v1/embeddings?api-version=2"),
        ] {
            let settings = EmbedSettings { url: given.to_owned(), ..EmbedSettings::default() };
            assert_eq!(Endpoint::new(settings).ok().unwrap().url.as_str(), asked);
        }
    }
}
