//! The keys that neither files nor requests of a conversation may contain: those of the configuration, and those that
//! the person types.

use std::sync::{Arc, PoisonError, RwLock};

use ragmaker_config::Redactor;

/// The keys, shared by all that writes texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownKeys(Arc<RwLock<Redactor>>);

impl KnownKeys {
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self(Arc::new(RwLock::new(redactor)))
    }

    /// `text` of the person without keys. A key that is recognised in it by its form is known from now on, so what
    /// repeats it has no key either. Texts of tools are not searched for such forms: a file of tests may contain an
    /// invalid key, and replacing it would change the file.
    pub(crate) fn of_person(&self, text: &str) -> String {
        self.0.write().unwrap_or_else(PoisonError::into_inner).learn(text);
        self.redacted(text)
    }

    /// `text` without the known keys.
    pub(crate) fn redacted(&self, text: &str) -> String {
        self.0.read().unwrap_or_else(PoisonError::into_inner).redacted(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_key_is_known_to_all_who_share_the_keys() {
        let keys = KnownKeys::default();
        let shared = keys.clone();
        let typed = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
        assert_eq!(shared.redacted(typed), typed);
        assert_eq!(keys.of_person(&format!("token {typed}.")), "token [key].");
        assert_eq!(shared.redacted(typed), "[key]");
        assert_eq!(keys.of_person("plain words"), "plain words");
    }
}
