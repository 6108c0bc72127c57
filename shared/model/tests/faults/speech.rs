//! What a model says, in each of the three formats, by provider.

use ragmaker_model::Provider;
use ragmaker_testkit::speech::{self, Said, Wire};

pub(crate) const FORMATS: [Provider; 3] = [Provider::OpenAi, Provider::Gemini, Provider::Anthropic];

fn wire(provider: Provider) -> Wire {
    match provider {
        Provider::Gemini => Wire::Gemini,
        Provider::Anthropic => Wire::Anthropic,
        _ => Wire::OpenAi,
    }
}

pub(crate) fn answer(provider: Provider, texts: &[&str], calls: &[Said<'_>]) -> Vec<Vec<u8>> {
    speech::answer(wire(provider), texts, calls)
}

pub(crate) fn text(provider: Provider, text: &str) -> Vec<u8> {
    speech::text(wire(provider), text)
}
