//! The configured model and search engine, or an error that names the missing setting.

use std::time::Duration;

use ragmaker_tool::Error;

use crate::{
    Config, KEY_VARIABLES, Key, MODEL_NOT_CONFIGURED, Protocol, Provider, SEARCH_NOT_CONFIGURED, SearchEngine,
    keys::AZURE_ENDPOINT,
};

/// A model and how it is reached.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// The provider.
    pub provider: Provider,
    /// Its name.
    pub name: String,
    /// The provider's root; empty for the provider's own.
    pub base_url: String,
    /// The variable that contains the key.
    pub key_variable: Option<String>,
    /// The key.
    pub key: Key,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// Further parameters of the URL.
    pub query: Vec<(String, String)>,
    /// The temperature.
    pub temperature: f64,
    /// The maximum number of tokens of an answer; 0 for the provider's default.
    pub max_output_tokens: u64,
    /// The number of seconds after which a silent endpoint is given up.
    pub timeout_s: u64,
    /// The way in which tools are called.
    pub protocol: Protocol,
}

/// A search engine and how it is reached.
#[derive(Clone, Debug)]
pub struct SearchSettings {
    /// The engine.
    pub engine: SearchEngine,
    /// Its root; empty for the engine's own.
    pub base_url: String,
    /// The key.
    pub key: Key,
    /// The variable that contains the key.
    pub key_variable: Option<String>,
    /// The id of a Google search engine.
    pub google_engine_id: String,
}

/// An embeddings endpoint and the form of the texts that are sent to it.
#[derive(Clone, Debug, Default)]
pub struct EmbedSettings {
    /// Its address, or its root.
    pub url: String,
    /// The model.
    pub model: String,
    /// The key.
    pub key: Key,
    /// The text before a query.
    pub query_prefix: String,
    /// The text before a document.
    pub document_prefix: String,
    /// How long one search may embed documents.
    pub budget: Duration,
}

impl Config {
    /// The endpoint of embeddings, if one is configured. It receives documents and a key, so a person has to confirm
    /// one that the project's own files set.
    ///
    /// # Errors
    /// The reason why the configured one may not be asked.
    pub fn embeddings(&self) -> Result<Option<EmbedSettings>, String> {
        let url = self.text("search.embed_url");
        if url.is_empty() {
            return Ok(None);
        }
        let widening = ["search.embed_url", "search.embed_api_key_env"];
        if let Some(key) = widening.into_iter().find(|key| self.origin(key).is_in_project())
            && !self.is_confirmed()
        {
            return Err(format!(
                "{key} is set by the project's own files, which nobody has confirmed: set it in the user's ragmaker.toml, or confirm it in the agent"
            ));
        }
        Ok(Some(EmbedSettings {
            url,
            model: self.text("search.embed_model"),
            // Without a value, the endpoint says that it needs one.
            key: self.variable(&self.embeddings_variable()).map(Key::new).unwrap_or_default(),
            query_prefix: self.text("search.embed_query_prefix"),
            document_prefix: self.text("search.embed_document_prefix"),
            budget: Duration::from_secs(self.whole("search.embed_budget_s")),
        }))
    }

    /// The environment variable that contains the key of the embeddings endpoint.
    pub fn embeddings_variable(&self) -> String {
        self.text("search.embed_api_key_env")
    }

    /// The model, with its key.
    ///
    /// # Errors
    /// [`MODEL_NOT_CONFIGURED`] with the missing key, [`crate::CONFIG_INVALID`] where a header names a variable that is
    /// not set.
    pub fn model(&self) -> Result<ModelSettings, Error> {
        let missing = |key: &str, variable: &str, what: &str| {
            MODEL_NOT_CONFIGURED
                .error(format!("{key} is not set; {what}"))
                .remedy(format!("Set {key} in ragmaker.toml, or {variable} in the environment or .env."))
                .detail("key", key)
                .detail("variable", variable)
        };
        let provider: Provider = self.choice("model.provider");
        let name = self.text("model.name");
        if name.is_empty() {
            let what = format!("it selects the model of {}", provider.name());
            return Err(missing("model.name", "RAGMAKER_MODEL", &what));
        }
        let mut base_url = self.text("model.base_url");
        if provider == Provider::Azure && base_url.is_empty() {
            base_url = self.variable(AZURE_ENDPOINT).unwrap_or_default().to_owned();
            if base_url.is_empty() {
                return Err(missing("model.base_url", AZURE_ENDPOINT, "it is the address of the Azure resource"));
            }
        }
        let (key_variable, key) = self.key("model.api_key_env", provider.name()).map_err(|variable| {
            let error =
                missing("model.api_key_env", &variable, &format!("the environment variable {variable} has no value"));
            let error = error.remedy(format!("Set {variable} to the key, in the environment or .env."));
            if provider == Provider::Azure { error } else { error.detail("provider", provider.name()) }
        })?;
        Ok(ModelSettings {
            provider,
            name,
            base_url,
            key_variable,
            key,
            headers: self.pairs("model.headers")?,
            query: self.pairs("model.query")?,
            temperature: self.number("model.temperature"),
            max_output_tokens: self.whole("model.max_output_tokens"),
            timeout_s: self.whole("model.timeout_s"),
            protocol: self.choice("model.tool_protocol"),
        })
    }

    /// The search engine with its key: the configured one, or `engine`.
    ///
    /// # Errors
    /// [`SEARCH_NOT_CONFIGURED`] with the missing key.
    pub fn search(&self, engine: Option<SearchEngine>) -> Result<SearchSettings, Error> {
        let configured: SearchEngine = self.choice("search.engine");
        let engine = engine.unwrap_or(configured);
        // Address and key belong to the engine that the configuration names: another one never gets them.
        let is_configured = engine == configured;
        let missing = |key: &str, what: &str| {
            SEARCH_NOT_CONFIGURED
                .error(format!("{what} for the search engine {}", engine.name()))
                .detail("key", key)
                .detail("engine", engine.name())
        };
        let base_url = if is_configured { self.text("search.base_url") } else { String::new() };
        if engine == SearchEngine::Searxng && base_url.is_empty() {
            return Err(missing("search.base_url", "search.engine and search.base_url are not set"));
        }
        let google_engine_id = self.text("search.google_engine_id");
        if engine == SearchEngine::Google && google_engine_id.is_empty() {
            return Err(missing("search.google_engine_id", "search.google_engine_id is not set"));
        }
        let setting = if is_configured { "search.api_key_env" } else { "" };
        let (key_variable, key) = self.key(setting, engine.name()).map_err(|variable| {
            missing("search.api_key_env", &format!("the environment variable {variable} has no value"))
                .detail("variable", variable)
        })?;
        Ok(SearchSettings { engine, base_url, key, key_variable, google_engine_id })
    }

    /// The key of a service and its variable: the one that `setting` names, else the service's own.
    ///
    /// # Errors
    /// The name of the variable that would contain it.
    fn key(&self, setting: &str, service: &str) -> Result<(Option<String>, Key), String> {
        let named = self.text(setting);
        let own = KEY_VARIABLES.iter().find(|(name, _)| *name == service).map_or(&[][..], |(_, variables)| variables);
        let candidates: Vec<&str> = if named.is_empty() { own.to_vec() } else { vec![&named] };
        for variable in &candidates {
            if let Some(value) = self.variable(variable) {
                return Ok((Some((*variable).to_owned()), Key::new(value)));
            }
        }
        candidates.first().map_or_else(|| Ok((None, Key::default())), |variable| Err((*variable).to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, time::Duration};

    use ragmaker_project::CONFIGURATION;

    use crate::{Config, Environment, Options};

    fn load(project: &Path, environment: &[(&str, &str)]) -> Config {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let environment = Environment::of(environment, project).unwrap();
        Config::load(project, &Options { environment, ..Options::default() }).unwrap()
    }

    #[test]
    fn documents_are_sent_only_where_a_person_says() {
        let project = tempfile::tempdir().unwrap();
        assert!(load(project.path(), &[]).embeddings().unwrap().is_none());
        let own = [("RAGMAKER_EMBED_URL", "http://127.0.0.1:1/v1"), ("RAGMAKER_EMBED_MODEL", "m")];
        let settings = load(project.path(), &own).embeddings().unwrap().unwrap();
        assert_eq!((settings.url.as_str(), settings.model.as_str()), ("http://127.0.0.1:1/v1", "m"));
        assert!(settings.key.is_empty() && settings.budget == Duration::from_secs(10));
        let text =
            "[search]\nembed_url = 'https://elsewhere.example'\nembed_query_prefix = 'query: '\nembed_budget_s = 0";
        fs::write(project.path().join(CONFIGURATION), text).unwrap();
        let refused = load(project.path(), &[]).embeddings().unwrap_err();
        assert!(refused.contains("search.embed_url") && refused.contains("nobody has confirmed"), "{refused}");
        // What the person says comes first, with the project's other settings.
        let settings = load(project.path(), &own).embeddings().unwrap().unwrap();
        assert_eq!((settings.url.as_str(), settings.query_prefix.as_str()), ("http://127.0.0.1:1/v1", "query: "));
        assert_eq!(settings.budget, Duration::ZERO);
        fs::write(project.path().join(CONFIGURATION), "[search]\nembed_api_key_env = 'OPENAI_API_KEY'").unwrap();
        let refused = load(project.path(), &own).embeddings().unwrap_err();
        assert!(refused.contains("search.embed_api_key_env"), "{refused}");
    }
}
