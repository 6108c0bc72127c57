//! The table of all configuration keys.
//!
//! Configuration files are checked against [`KEYS`], defaults come from it, and the reference in docs/configuration.md
//! is generated from it.

use ragmaker_project::variables::{
    API_KEY_ENV, APPROVE, BASE_URL, DEBUG, EMBED_API_KEY_ENV, EMBED_MODEL, EMBED_URL, MODEL, PROVIDER,
};

use crate::{Language, Protocol, Provider, SearchEngine, value::ValueKind};

/// A key of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name, with its table: `model.name`. `NAME` is a placeholder for any name.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: ValueKind,
    /// Its default value, as TOML.
    pub default: &'static str,
    /// The environment variables that come before the files, the first one first.
    pub variables: &'static [&'static str],
    /// Whether it widens what a model or a server can reach, or decides where a key is sent.
    pub widens: bool,
    /// Its meaning.
    pub meaning: &'static str,
}

impl Key {
    const fn new(name: &'static str, kind: ValueKind, default: &'static str, meaning: &'static str) -> Self {
        Self { name, kind, default, variables: &[], widens: false, meaning }
    }

    const fn variables(self, variables: &'static [&'static str]) -> Self {
        Self { variables, ..self }
    }

    const fn widens(self) -> Self {
        Self { widens: true, ..self }
    }

    /// Whether this is the key `name`, which has a name of a person's choice where the key has `NAME`.
    pub(crate) fn is(&self, name: &str) -> bool {
        let (mut own, mut given) = (self.name.split('.'), name.split('.'));
        loop {
            match (own.next(), given.next()) {
                (None, None) => return true,
                (Some(own), Some(given)) if own == given || own == "NAME" => {}
                _ => return false,
            }
        }
    }
}

/// All keys, by table.
pub const KEYS: &[Key] = &[
    Key::new(
        "model.provider",
        ValueKind::Choice(Provider::NAMES),
        "\"gemini\"",
        "The provider of the model. `compatible` is any server of OpenAI's chat completions, such as Ollama, llama.cpp, vLLM, LM Studio or OpenRouter.",
    )
    .variables(&[PROVIDER])
    .widens(),
    Key::new("model.name", ValueKind::Text, "\"\"", "The model's name; with Azure, the name of the deployment. Required.")
        .variables(&[MODEL]),
    Key::new(
        "model.api_key_env",
        ValueKind::Variable,
        "\"\"",
        "The name of the environment variable that contains the key. Without it, the provider's own (see below).",
    )
    .variables(&[API_KEY_ENV])
    .widens(),
    Key::new(
        "model.base_url",
        ValueKind::Url,
        "\"\"",
        "The provider's root, with or without `/v1` or `/v1beta`. Without it, the provider's own; with `compatible`, Ollama's on this machine. Azure needs it: `AZURE_OPENAI_ENDPOINT` is taken as well.",
    )
    .variables(&[BASE_URL])
    .widens(),
    Key::new(
        "model.headers",
        ValueKind::Pairs,
        "{}",
        "Further headers of each request. `${NAME}` in a value is the environment variable NAME.",
    )
    .widens(),
    Key::new(
        "model.query",
        ValueKind::Pairs,
        "{}",
        "Further parameters of the URL, such as Azure's `api-version`; with `${NAME}` as in headers.",
    )
    .widens(),
    Key::new("model.temperature", ValueKind::Number { most: 2 }, "0", "0 for the most likely answer; at most 2."),
    Key::new(
        "model.max_output_tokens",
        ValueKind::Whole { least: 0, most: 10_000_000 },
        "0",
        "The maximum number of tokens of an answer; 0 is the provider's default.",
    ),
    Key::new(
        "model.context_tokens",
        ValueKind::Whole { least: 0, most: 100_000_000 },
        "0",
        "The model's context window in tokens; 0 stands for 1,000,000 with `gemini`, 200,000 with `anthropic`, 128,000 with `openai` and `azure`, and 32,000 with `compatible`.",
    ),
    Key::new(
        "model.timeout_s",
        ValueKind::Whole { least: 1, most: 3_600 },
        "120",
        "The number of seconds without data from the endpoint after which a request fails.",
    ),
    Key::new("model.language", ValueKind::Choice(Language::NAMES), "\"ja\"", "The language of the instructions; answers follow the person's."),
    Key::new(
        "model.tool_protocol",
        ValueKind::Choice(Protocol::NAMES),
        "\"auto\"",
        "How the model calls tools: in the provider's own form, as JSON in its text, as text that the server constrains to a JSON schema, or in the provider's own form until an answer has a call in its text.",
    ),
    Key::new("agent.max_steps", ValueKind::Whole { least: 1, most: 10_000 }, "50", "The maximum number of requests to the model for one message of the person."),
    Key::new("agent.think_required", ValueKind::Switch, "true", "Whether an answer after tool use needs a `think` before it."),
    Key::new(
        "agent.max_conversation_turns",
        ValueKind::Whole { least: 0, most: 100_000 },
        "20",
        "The number of turns after which the conversation is summarised; 0 for never.",
    )
    .variables(&["MAX_CONVERSATION_TURNS"]),
    Key::new(
        "agent.summary_conversation_turns",
        ValueKind::Whole { least: 1, most: 100_000 },
        "6",
        "The number of latest turns that a summary keeps unchanged.",
    )
    .variables(&["SUMMARY_CONVERSATION_TURNS"]),
    Key::new(
        "agent.approve",
        ValueKind::Choice(crate::Approve::NAMES),
        "\"ask\"",
        "`ask` asks the person about calls that may change something, `read` runs calls that only read and refuses the others, `never` refuses calls that need a question, `all` runs every call that is not blocked. In the files of a project, `all` has no effect.",
    )
    .variables(&[APPROVE])
    .widens(),
    Key::new("search.engine", ValueKind::Choice(SearchEngine::NAMES), "\"tavily\"", "The engine of `web-search`."),
    Key::new(
        "search.api_key_env",
        ValueKind::Variable,
        "\"\"",
        "The name of the environment variable that contains the engine's key. Without it, the engine's own (see below).",
    )
    .widens(),
    Key::new(
        "search.base_url",
        ValueKind::Url,
        "\"\"",
        "The engine's root. Required for SearXNG; by default, the engine's own.",
    )
    .widens(),
    Key::new("search.google_engine_id", ValueKind::Text, "\"\"", "The id (cx) of the Google search engine. Google needs it."),
    Key::new(
        "search.embed_url",
        ValueKind::Url,
        "\"\"",
        "An endpoint of embeddings in OpenAI's format, such as `http://127.0.0.1:11434/v1`. With it, `search-knowledge-base` also ranks by meaning, and sends it the texts of documents and queries. From the files of a project, it counts only after a person confirmed it in `ragmaker-agent`.",
    )
    .variables(&[EMBED_URL])
    .widens(),
    Key::new("search.embed_model", ValueKind::Text, "\"\"", "The name of its model.").variables(&[EMBED_MODEL]),
    Key::new(
        "search.embed_api_key_env",
        ValueKind::Variable,
        "\"\"",
        "The name of the environment variable that contains its key; without it, no key is sent.",
    )
    .variables(&[EMBED_API_KEY_ENV])
    .widens(),
    Key::new("search.embed_query_prefix", ValueKind::Text, "\"\"", "The text that its model needs before a query, such as `query: `."),
    Key::new("search.embed_document_prefix", ValueKind::Text, "\"\"", "The text that its model needs before a document, such as `passage: `."),
    Key::new(
        "search.embed_budget_s",
        ValueKind::Whole { least: 0, most: 86_400 },
        "10",
        "The time in seconds that one search may use to embed parts of documents without a vector; later searches embed the rest.",
    ),
    Key::new(
        "command.allow",
        ValueKind::Texts,
        "[]",
        "Prefixes of command lines that run without approval, such as `\"cargo test\"`. Of a program that runs others (`find`, `xargs`, `ssh`, `sudo`, `docker run`, interpreters), only the line itself.",
    )
    .widens(),
    Key::new("command.timeout_s", ValueKind::Whole { least: 1, most: 3_600 }, "120", "The number of seconds after which a command is ended, unless the call has its own timeout."),
    Key::new("command.network", ValueKind::Switch, "false", "Whether approved commands may use the network, unless the call decides. Commands that run without approval never may.").widens(),
    Key::new("tools.offered", ValueKind::Texts, "[]", "The tools that are offered to the model; by default, all."),
    Key::new(
        "tools.catalogs",
        ValueKind::Catalogs,
        "[]",
        "External tools: paths of catalogs from the file's own folder, or tables with `file`, and `call` for a catalog whose tools one command runs, or `discover` for a command that prints the catalog. With `confined = false`, its tools are not confined to their declarations.",
    )
    .widens(),
    Key::new("tools.timeout_s", ValueKind::Whole { least: 1, most: 86_400 }, "120", "The number of seconds after which a call of an external tool is ended."),
    Key::new("mcp.servers.NAME.command", ValueKind::Text, "\"\"", "The executable of an MCP server, whose tools are offered as well.").widens(),
    Key::new("mcp.servers.NAME.args", ValueKind::Texts, "[]", "Its arguments.").widens(),
    Key::new(
        "mcp.servers.NAME.confined",
        ValueKind::Switch,
        "false",
        "Whether the server can write only the project; this does not work for servers that `npx` or `docker` start.",
    )
    .widens(),
    Key::new(
        "mcp.servers.NAME.env",
        ValueKind::Pairs,
        "{}",
        "Further environment variables for it, with `${NAME}` as in headers: keys of this process are not passed on by themselves.",
    )
    .widens(),
    Key::new("log.debug", ValueKind::Switch, "false", "Whether requests, answers and decisions are logged, without keys.").variables(&[DEBUG, "DEBUG_MODE"]),
];

/// The variables that contain keys by default: for whom, and which, the first one first.
pub const KEY_VARIABLES: &[(&str, &[&str])] = &[
    ("gemini", &["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
    ("openai", &["OPENAI_API_KEY"]),
    ("azure", &["AZURE_OPENAI_API_KEY"]),
    ("anthropic", &["ANTHROPIC_API_KEY"]),
    ("compatible", &[]),
    ("tavily", &["TAVILY_API_KEY"]),
    ("google", &["GOOGLE_SEARCH_API_KEY"]),
    ("brave", &["BRAVE_API_KEY"]),
    ("searxng", &[]),
];

/// Azure's own variable for the address.
pub(crate) const AZURE_ENDPOINT: &str = "AZURE_OPENAI_ENDPOINT";

/// The key of that name.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.is(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_by_its_whole_name() {
        assert_eq!(find("model.name").map(|key| key.name), Some("model.name"));
        for name in [
            "mcp.servers.x.command",
            "mcp.servers.\u{6f6e}.command",
            "mcp.servers..command",
            "mcp.servers.NAME.command",
        ] {
            assert_eq!(find(name).map(|key| key.name), Some("mcp.servers.NAME.command"), "{name}");
        }
        for name in [
            "",
            "model",
            "model.",
            "model.name.x",
            "Model.name",
            "mcp.servers.a.b.command",
            "mcp.servers.command",
            "NAME.name",
        ] {
            assert!(find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn what_decides_where_a_key_or_a_document_is_sent_needs_a_person() {
        for key in KEYS.iter().filter(|key| {
            let last = key.name.rsplit('.').next().unwrap_or_default();
            ["base_url", "embed_url", "provider", "headers", "query", "command", "args", "env"].contains(&last)
                || last.ends_with("key_env")
        }) {
            assert!(key.widens, "{}", key.name);
        }
    }
}
