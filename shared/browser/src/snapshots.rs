//! The last look at each page of a session, with which the next one is compared.
//!
//! Only hashes are kept: names and states may be private.

use std::{
    collections::HashMap,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::Write,
    path::{Path, PathBuf},
    time::SystemTime,
};

use ragmaker_fs::{Replace, write_atomically};
use ragmaker_project::create_private;
use ragmaker_tool::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{elements::Node, profile::Profile};

/// The maximum number of pages whose last look is kept.
const MAX_PAGES: usize = 32;

/// The maximum number of elements of a page that are kept.
const MAX_ELEMENTS: usize = 20_000;

/// How a look relates to the last one of the page in the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookRequest {
    /// Whether only what was not there at the last look is listed, or was there with another name or state.
    pub changed: bool,
    /// Whether the look continues the last one: it is compared with what that one was compared with.
    pub continues: bool,
}

/// The differences from the previous list of the page's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LookChanges {
    /// With --changed: whether there was an earlier look at the page; without one, all elements are listed.
    pub compared: bool,
    /// With --changed: the number of elements that are no longer there, or have another name or state.
    pub gone: usize,
}

/// An element: the hash of its role, name, URL and states, and that of these and the heading before it.
type Fingerprint = [u64; 2];

/// An element that was there at a look, and whether that look or one before it has listed it.
type ListedElement = (Fingerprint, bool);

/// The last looks at one page.
#[derive(Debug, Default, Serialize, Deserialize)]
struct PageSnapshots {
    /// The last one.
    last: Vec<ListedElement>,
    /// The one before it, with which the last one was compared; none if the last one was the first.
    before: Option<Vec<ListedElement>>,
}

/// A look at a page, compared with an earlier one.
pub(crate) struct Comparison {
    /// For each node whether it is listed, if it is in the requested part of the page.
    pub(crate) listed: Vec<bool>,
    /// The changes, if they were asked for.
    pub(crate) changes: Option<LookChanges>,
    /// For each node its mark, and whether no earlier look has listed it.
    marks: Vec<(Option<Fingerprint>, bool)>,
    /// The earlier look.
    earlier: Option<Vec<ListedElement>>,
    /// The file of the page; `None` for a look that continues the last one.
    file: Option<PathBuf>,
}

impl Comparison {
    /// Makes this look, which has listed the nodes `listed`, the last one of the page. Without effect on a look that
    /// continues the last one.
    pub(crate) fn record(self, listed: impl IntoIterator<Item = usize>) {
        let Self { mut marks, earlier, file: Some(file), .. } = self else { return };
        for index in listed {
            marks[index].1 = false;
        }
        let last = marks.into_iter().filter_map(|(mark, is_unlisted)| Some((mark?, !is_unlisted)));
        record(&file, &PageSnapshots { last: last.take(MAX_ELEMENTS).collect(), before: earlier });
    }
}

/// Compares `nodes` of the page at `url` with the look that `request` asks for. For a look at the part of the page that
/// a selector names (`is_part`), what no earlier look has listed is new as well.
pub(crate) fn compare(profile: &Profile, url: &str, nodes: &[Node], request: LookRequest, is_part: bool) -> Comparison {
    let file = profile.snapshots_folder().join(format!("{:016x}", hash(&url)));
    let known: Option<PageSnapshots> = fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let marks: Vec<Option<Fingerprint>> = nodes.iter().map(mark).collect();
    let earlier = match (&known, request.continues) {
        (Some(snapshots), true) => snapshots.before.clone(),
        (Some(snapshots), false) => Some(snapshots.last.clone()),
        (None, _) => None,
    };
    let seen = earlier.as_deref().unwrap_or_default();
    let (is_new, gone) = difference(&marks, seen.iter().map(|(mark, _)| mark));
    let (is_unlisted, _) = difference(&marks, seen.iter().filter(|(_, is_listed)| *is_listed).map(|(mark, _)| mark));
    let changes = request.changed.then_some(LookChanges { compared: earlier.is_some(), gone });
    let listed = match (request.changed, is_part) {
        (false, _) => vec![true; nodes.len()],
        (true, false) => is_new,
        (true, true) => is_unlisted.clone(),
    };
    let marks = marks.into_iter().zip(is_unlisted).collect();
    Comparison { listed, changes, marks, earlier, file: (!request.continues).then_some(file) }
}

/// The mark of a node that can be acted on.
fn mark(node: &Node) -> Option<Fingerprint> {
    let own = (node.role, &node.name, &node.url, &node.states);
    node.acts().then(|| [hash(&own), hash(&(own, &node.under))])
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// For each of `marks`, whether `earlier` does not have it, and the number of marks that only `earlier` has. Of several
/// equal elements, those under the same heading are the same; a heading may have changed.
fn difference<'m>(marks: &[Option<Fingerprint>], earlier: impl Iterator<Item = &'m Fingerprint>) -> (Vec<bool>, usize) {
    let mut left: HashMap<u64, Vec<u64>> = HashMap::new();
    for [own, placed] in earlier {
        left.entry(*own).or_default().push(*placed);
    }
    let mut is_new = vec![true; marks.len()];
    for is_exact in [true, false] {
        for (mark, is_new) in marks.iter().zip(&mut is_new).filter(|(_, is_new)| **is_new) {
            let Some([own, placed]) = mark else { continue };
            let Some(known) = left.get_mut(own) else { continue };
            let found =
                if is_exact { known.iter().position(|known| known == placed) } else { known.len().checked_sub(1) };
            if let Some(index) = found {
                known.swap_remove(index);
                *is_new = false;
            }
        }
    }
    (is_new, left.values().map(Vec::len).sum())
}

/// Writes the file, and removes the oldest ones. An unrecorded call does not fail: the next one lists
/// more.
fn record(file: &Path, snapshots: &PageSnapshots) {
    let Some(folder) = file.parent() else { return };
    let replace = Replace { mode: 0o600, sync_directory: false, ..Replace::default() };
    let text = serde_json::to_vec(snapshots).unwrap_or_default();
    let _ = create_private(folder).map(|()| write_atomically(file, replace, |file| file.write_all(&text)));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let age =
        |entry: &fs::DirEntry| entry.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut files: Vec<_> = entries.map(|entry| (age(&entry), entry.path())).collect();
    files.sort();
    for (_, old) in files.iter().rev().skip(MAX_PAGES) {
        let _ = fs::remove_file(old);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::ElementId;

    fn node(name: &str, states: &[&'static str], under: &str) -> Node {
        Node {
            element_id: ElementId { session: None, frame: "T".into(), node: 1 },
            role: "button",
            name: name.into(),
            value: String::new(),
            states: states.to_vec(),
            url: None,
            under: under.into(),
            is_own: true,
            is_main: true,
            is_chosen: false,
            within: None,
        }
    }

    const CHANGED: LookRequest = LookRequest { changed: true, continues: false };
    const CONTINUED: LookRequest = LookRequest { changed: true, continues: true };

    #[test]
    fn a_look_is_compared_with_the_last_one_of_the_page() {
        let (_kept, profile) = crate::profile::tests::profile();
        let look = |nodes: &[Node], request| {
            let look = compare(&profile, "https://x.example/", nodes, request, false);
            let (listed, changes) = (look.listed.clone(), look.changes);
            let indices: Vec<usize> = (0..nodes.len()).filter(|index| listed[*index]).collect();
            let names: Vec<String> = indices.iter().map(|index| nodes[*index].name.clone()).collect();
            look.record(indices);
            (names, changes.map(|changes| (changes.compared, changes.gone)))
        };
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut nodes = vec![node("Edit", &[], "A"), node("Fold", &["collapsed"], "A")];
        assert_eq!(look(&nodes, CHANGED), (names(&["Edit", "Fold"]), Some((false, 0))));
        assert_eq!(look(&nodes, CHANGED), (vec![], Some((true, 0))));
        nodes[1] = node("Fold", &["expanded"], "A");
        nodes.insert(0, node("Edit", &[], "B"));
        nodes.push(node("New", &[], "A"));
        assert_eq!(compare(&profile, "https://x.example/", &nodes, CHANGED, false).listed, [true, false, true, true]);
        // The one under the other heading, the one with another state, the new one.
        assert_eq!(look(&nodes, CHANGED), (names(&["Edit", "Fold", "New"]), Some((true, 1))));
        // The rest of it is compared with the same, however often.
        for _ in 0..2 {
            assert_eq!(look(&nodes, CONTINUED).0.len(), 3);
        }
        assert_eq!(look(&nodes, CHANGED), (vec![], Some((true, 0))));
        assert_eq!(look(&nodes, LookRequest::default()).0.len(), 4);
        // A heading that changes makes no element new.
        for node in &mut nodes {
            node.under = "C".into();
        }
        assert_eq!(look(&nodes, CHANGED), (vec![], Some((true, 0))));
        assert_eq!(look(&nodes[..1], CHANGED), (vec![], Some((true, 3))));
    }

    #[test]
    fn in_a_part_what_was_never_listed_is_new() {
        let (_kept, profile) = crate::profile::tests::profile();
        let nodes = [node("Menu", &[], ""), node("Edit", &[], "A")];
        let look = |part: &[usize], is_part| {
            let look = compare(&profile, "https://x.example/", &nodes, CHANGED, is_part);
            let listed: Vec<usize> = part.iter().copied().filter(|index| look.listed[*index]).collect();
            look.record(listed.clone());
            listed
        };
        // The main content, then the menu by a selector: it was there, and was never listed.
        assert_eq!(look(&[1], false), [1]);
        assert_eq!(look(&[0, 1], false), [0; 0]);
        assert_eq!(look(&[0, 1], true), [0]);
        assert_eq!(look(&[0, 1], true), [0; 0]);
    }

    #[test]
    fn few_pages_are_kept() {
        let (_kept, profile) = crate::profile::tests::profile();
        for page in 0..MAX_PAGES + 5 {
            let url = format!("https://x.example/{page}");
            compare(&profile, &url, &[node("a", &[], "")], LookRequest::default(), false).record([0]);
        }
        assert_eq!(fs::read_dir(profile.snapshots_folder()).unwrap().count(), MAX_PAGES);
    }
}
