//! The addresses whose content was fetched in this run.

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A set of addresses that workers read while others add to it.
#[derive(Default)]
pub(crate) struct FetchedUrls(Mutex<HashSet<String>>);

impl FetchedUrls {
    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys().contains(key)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys().is_empty()
    }

    pub(crate) fn add(&self, keys: impl IntoIterator<Item = String>) {
        self.keys().extend(keys);
    }

    fn keys(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_added_stays_if_another_one_panics() {
        let fetched = FetchedUrls::default();
        assert!(fetched.is_empty() && !fetched.has("a"));
        fetched.add(["a".to_owned(), "b".to_owned()]);
        let panics = || {
            let _keys = fetched.keys();
            panic!("a worker");
        };
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        fetched.add(["c".to_owned()]);
        assert!(["a", "b", "c"].iter().all(|key| fetched.has(key)) && !fetched.is_empty() && !fetched.has("A"));
    }
}
