//! Enumerated values of the configuration, such as providers and search engines.

macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $one:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $one,)* }

        impl $name {
            /// How the choices are written.
            pub const NAMES: &[&str] = &[$($text),*];

            /// How this one is written.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$one => $text,)* }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok(Self::$one),)*
                    _ => Err(format!("expected one of {}", Self::NAMES.join(", "))),
                }
            }
        }
    };
}

choice! {
    /// Who serves the model.
    Provider {
        /// `OpenAI`.
        OpenAi = "openai",
        /// Azure `OpenAI`: the model is the name of a deployment.
        Azure = "azure",
        /// Anthropic.
        Anthropic = "anthropic",
        /// Google's Gemini API.
        Gemini = "gemini",
        /// Any server that speaks `OpenAI`'s chat completions, such as Ollama or llama.cpp.
        Compatible = "compatible",
    }
}

choice! {
    /// How the model calls tools.
    Protocol {
        /// Native until an answer holds a call in its text, then text.
        Auto = "auto",
        /// The provider's own form.
        Native = "native",
        /// JSON in the text of the answer. Small local models write calls no other way: with Qwen2.5-Coder-1.5B, 20 of
        /// 20 prompts led to the right call by text and none by the native form.
        Text = "text",
        /// JSON in the text of the answer, to whose form the server holds the model.
        JsonSchema = "json_schema",
    }
}

choice! {
    /// The language of the instructions.
    Language {
        /// Japanese.
        Japanese = "ja",
        /// English.
        English = "en",
    }
}

choice! {
    /// What runs without a question.
    Approve {
        /// What only reads; a person is asked for the rest.
        Ask = "ask",
        /// What only reads; the rest is refused.
        Read = "read",
        /// What needs no approval; the rest is refused without a question.
        Never = "never",
        /// All that is not blocked.
        All = "all",
    }
}

choice! {
    /// A search engine.
    SearchEngine {
        /// Tavily.
        Tavily = "tavily",
        /// Google's Custom Search.
        Google = "google",
        /// A `SearXNG` server.
        Searxng = "searxng",
        /// Brave.
        Brave = "brave",
    }
}
