//! The keys of the configuration and of `.env`: no command has them in its environment, and no output shows them.

use ragmaker_config::{Config, Options, Redactor};
use ragmaker_project::Project;

/// The names of the variables that hold keys, and the keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    pub(crate) variables: Vec<String>,
    redactor: Redactor,
    /// The ends of the streams that may be the beginning of a key, of standard output and of standard error.
    held: [Vec<u8>; 2],
}

impl Keys {
    /// The keys of `project`. A configuration that cannot be read names none: its error is that of the tools that need
    /// it.
    pub(crate) fn of(project: &Project, file: Option<&str>) -> Self {
        let config =
            Options::of_process(project.root(), file).and_then(|options| Config::load(project.root(), &options));
        let Ok(config) = config else { return Self::default() };
        Self { variables: config.key_variables(), redactor: config.redactor(), held: [vec![], vec![]] }
    }

    /// What can be shown after `block` of a stream, without keys. What may be the beginning of a key is held back.
    pub(crate) fn without_keys(&mut self, block: &[u8], is_error: bool) -> Vec<u8> {
        let held = &mut self.held[usize::from(is_error)];
        held.extend_from_slice(block);
        let mut shown = self.redactor.redacted_bytes(held);
        let keep = self.redactor.longest().saturating_sub(1).min(shown.len());
        *held = shown.split_off(shown.len() - keep);
        shown
    }

    /// What was held back of a stream.
    pub(crate) fn rest(&mut self, is_error: bool) -> Vec<u8> {
        std::mem::take(&mut self.held[usize::from(is_error)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_wherever_a_stream_is_split() {
        let text = b"a sk-12345 b sk-12345sk-1234 c";
        for at in 0..text.len() {
            let mut keys = Keys::default();
            keys.redactor.add("sk-12345");
            let mut shown = keys.without_keys(&text[..at], false);
            shown.extend(keys.without_keys(b"sk-12", true));
            shown.extend(keys.without_keys(&text[at..], false));
            shown.extend(keys.rest(false));
            assert_eq!(String::from_utf8(shown).unwrap(), "a [key] b [key]sk-1234 c", "{at}");
        }
        let mut none = Keys::default();
        assert_eq!((none.without_keys(b"abc", false), none.rest(false)), (b"abc".to_vec(), vec![]));
    }
}
