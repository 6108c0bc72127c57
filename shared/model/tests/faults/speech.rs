//! Replies of a model, in each of the three formats, by provider.

use ragmaker_model::Provider;
use ragmaker_testkit::speech::{self, SpokenCall, WireFormat};

pub(crate) const FORMATS: [Provider; 3] = [Provider::OpenAi, Provider::Gemini, Provider::Anthropic];

fn wire(provider: Provider) -> WireFormat {
    match provider {
        Provider::Gemini => WireFormat::Gemini,
        Provider::Anthropic => WireFormat::Anthropic,
        _ => WireFormat::OpenAi,
    }
}

pub(crate) fn answer(provider: Provider, texts: &[&str], calls: &[SpokenCall<'_>]) -> Vec<Vec<u8>> {
    speech::answer(wire(provider), texts, calls)
}

pub(crate) fn text(provider: Provider, text: &str) -> Vec<u8> {
    speech::text(wire(provider), text)
}
