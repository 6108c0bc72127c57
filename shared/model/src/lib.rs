//! Clients of language models: one request, one streamed answer, three wire formats.
//!
//! The formats are `OpenAI`'s chat completions (also used by Azure, Ollama, llama.cpp, vLLM and `OpenRouter`), Gemini's
//! `generateContent` and Anthropic's messages. The crate has no tools and no prompts: the caller passes declarations of
//! tools and receives the model's calls. Every fault of an endpoint becomes an error with a code ([`ERRORS`]), or a
//! call whose arguments are not an object. A fault never changes the conversation.
//!
//! ```no_run
//! use ragmaker_model::{Cancel, Client, Declarations, Endpoint, Key, Message, Provider, Request};
//!
//! let endpoint = Endpoint::new(Provider::OpenAi, "gpt-5", "", Key::new("sk-…"));
//! let messages = [Message::User { text: "Hello".to_owned() }];
//! let request = Request { system: "Answer in short.", messages: &messages, tools: &Declarations::default() };
//! let answer = Client::new(endpoint).complete(&request, &Cancel::default(), &mut |_| ())?;
//! println!("{}", answer.text);
//! # Ok::<(), ragmaker_tool::Error>(())
//! ```

mod answer;
mod anthropic;
mod chat;
mod client;
mod connection;
mod endpoint;
mod error;
mod gemini;
mod message;
mod reader;
mod sse;
mod text;

pub use answer::{Answer, Stop, Usage};
pub use client::{Cancel, Client, Progress, Retries};
pub use endpoint::{Endpoint, Listed};
pub use error::{
    CANCELLED, CONTEXT_TOO_LONG, ERRORS, MODEL_ANSWER_INVALID, MODEL_AUTH_FAILED, MODEL_RATE_LIMITED, MODEL_UNREACHABLE,
};
pub use message::{Call, Declaration, Declarations, Message, Request, TextSignature};
pub use ragmaker_config::{Key, Protocol, Provider};
