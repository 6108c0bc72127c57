//! Enumerated values of the configuration, such as providers and search engines.

macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $one:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $one,)* }

        impl $name {
            /// The names of the choices.
            pub const NAMES: &[&str] = &[$($text),*];

            /// The name of this choice.
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
    /// The provider of the model.
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

impl Provider {
    /// The context window in tokens that is assumed if none is configured: the usual one of the provider's present
    /// models. With a smaller model, the endpoint refuses what is too long, which leads to a summary as well.
    pub const fn context_tokens(self) -> u64 {
        match self {
            Self::Gemini => 1_000_000,
            Self::Anthropic => 200_000,
            Self::OpenAi | Self::Azure => 128_000,
            Self::Compatible => 32_000,
        }
    }
}

choice! {
    /// The way in which the model calls tools.
    Protocol {
        /// Native until an answer contains a call in its text, then text.
        Auto = "auto",
        /// The provider's own form.
        Native = "native",
        /// JSON in the text of the answer. Small local models can write calls only in this form: with
        /// Qwen2.5-Coder-1.5B, 20 of 20 prompts led to the right call in text, and none in the native form.
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
    /// Which calls run without approval.
    Approve {
        /// Calls that only read; a person is asked about the others.
        Ask = "ask",
        /// Calls that only read; the others are refused.
        Read = "read",
        /// Calls that need no approval; the others are refused without a question.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_found_by_its_name() {
        for name in Provider::NAMES {
            let provider: Provider = name.parse().unwrap();
            assert_eq!(provider.name(), *name);
            assert!(provider.context_tokens() >= 32_000);
        }
        assert_eq!("json_schema".parse(), Ok(Protocol::JsonSchema));
        assert_eq!(
            "OpenAI".parse::<Provider>().unwrap_err(),
            "expected one of openai, azure, anthropic, gemini, compatible"
        );
    }
}
