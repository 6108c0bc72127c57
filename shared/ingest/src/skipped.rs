//! Files that a run skips, grouped by reason.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// The maximum number of reasons that are listed.
const REASONS: usize = 40;

/// Files that were passed over for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Skipped {
    /// The reason.
    pub reason: String,
    /// The number of files.
    pub files: usize,
    /// One of them.
    pub example: String,
}

/// Files that are passed over.
#[derive(Clone, Debug, Default)]
pub struct Skips(BTreeMap<String, (usize, String)>);

impl Skips {
    /// Counts the file `path`.
    pub fn add(&mut self, reason: impl Into<String>, path: &str) {
        let (files, _) = self.0.entry(reason.into()).or_insert_with(|| (0, path.chars().take(200).collect()));
        *files += 1;
    }

    /// The reasons, those with the most files first.
    pub fn into_list(self) -> Vec<Skipped> {
        let listed = self.0.into_iter().map(|(reason, (files, example))| Skipped { reason, files, example });
        let mut listed: Vec<Skipped> = listed.collect();
        listed.sort_by_key(|skipped| std::cmp::Reverse(skipped.files));
        if listed.len() > REASONS {
            let rest = listed.split_off(REASONS - 1);
            let files = rest.iter().map(|skipped| skipped.files).sum();
            let example = rest[0].example.clone();
            listed.push(Skipped { reason: "other reasons".to_owned(), files, example });
        }
        listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_and_few() {
        let mut skips = Skips::default();
        for number in 0..100 {
            skips.add(format!("reason {number}"), "a");
        }
        skips.add("reason 7", "b");
        let listed = skips.into_list();
        assert_eq!((listed.len(), listed[0].files, listed[0].example.as_str()), (REASONS, 2, "a"));
        assert_eq!(listed.iter().map(|skipped| skipped.files).sum::<usize>(), 101);
    }
}
