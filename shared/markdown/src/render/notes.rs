//! Footnotes: a short link and its target block, if that block links back.

use foldhash::{HashMap, HashMapExt};

use crate::{
    tag::{Attr, Tag},
    tree::{Id, ROOT, Tree},
};

/// The maximum size in bytes of a reference's text, and of the text of the links back.
const MAX_MARK: usize = 24;

/// The maximum number of nodes of a note.
const MAX_NOTE: usize = 512;

/// The footnotes of a page.
#[derive(Default)]
pub(super) struct Notes {
    /// The label of each element that refers to a note.
    pub(super) references: HashMap<Id, String>,
    /// The label of each note.
    pub(super) notes: HashMap<Id, String>,
}

/// A link to a note.
struct Reference {
    /// The link, or what is around it and contains no more text.
    element: Id,
    note: Id,
    mark: String,
}

impl Notes {
    /// Finds the footnotes among the nodes that `keep` contains, and drops the links back from it.
    pub(super) fn find(tree: &Tree, keep: &mut [bool]) -> Self {
        let links = |id: &Id| keep[*id] && tree.tag(*id) == Tag::A && fragment(tree, *id).is_some();
        let links: Vec<Id> = (1..tree.len()).filter(links).collect();
        if links.is_empty() {
            return Self::default();
        }
        let mut targets = HashMap::new();
        for id in (1..tree.len()).filter(|&id| keep[id]) {
            if let Some(name) = tree.attr(id, Attr::Id) {
                targets.entry(name).or_insert(id);
            }
        }
        let mut references: Vec<Reference> = vec![];
        let mut backs: Vec<Id> = vec![];
        for &link in &links {
            let Some(mark) = mark_of(tree, link) else { continue };
            let target = fragment(tree, link).and_then(|name| targets.get(name));
            let note = target.and_then(|&target| note_at(tree, target));
            let Some(note) = note.filter(|&note| {
                note > link && !references.iter().rev().take(1).any(|last| last.note > note && last.element > link)
            }) else {
                continue;
            };
            let names = names_around(tree, link);
            let first = links.partition_point(|&other| other < note);
            let inside = links[first..].iter().take_while(|&&other| other < tree.subtree(note).end);
            let back: Vec<Id> = inside
                .copied()
                .filter(|&other| fragment(tree, other).is_some_and(|name| names.contains(&name)))
                .collect();
            if !back.is_empty() {
                backs.extend(back);
                references.push(Reference { element: alone(tree, link, &mark), note, mark });
            }
        }
        backs.sort_unstable();
        backs.dedup();
        for &back in &backs {
            keep[tree.subtree(only_leads_back(tree, back, &backs))].fill(false);
        }
        Self::labelled(&references)
    }

    /// The notes labelled by the marks of the page where these are unique, else numbered.
    fn labelled(references: &[Reference]) -> Self {
        let mut marks: HashMap<&str, Id> = HashMap::new();
        let unique = references.iter().all(|Reference { note, mark, .. }| {
            *marks.entry(mark).or_insert(*note) == *note && mark.chars().all(|c| c.is_ascii_alphanumeric())
        });
        let mut found = Self::default();
        for Reference { element, note, mark } in references {
            let next = found.notes.len() + 1;
            let label =
                found.notes.entry(*note).or_insert_with(|| if unique { mark.clone() } else { next.to_string() });
            found.references.insert(*element, label.clone());
        }
        found
    }
}

/// The id that a link within the page leads to.
fn fragment(tree: &Tree, link: Id) -> Option<&str> {
    tree.attr(link, Attr::Href)?.trim().strip_prefix('#').filter(|name| !name.is_empty())
}

/// The text of a reference, without its brackets.
fn mark_of(tree: &Tree, link: Id) -> Option<String> {
    if tree.subtree(link).len() > 8 {
        return None;
    }
    let text = tree.text_content(link);
    let mark = bare(&text);
    (!mark.is_empty() && mark.chars().count() <= 5 && !mark.contains(char::is_whitespace)).then(|| mark.to_owned())
}

fn bare(text: &str) -> &str {
    text.trim().trim_matches(['[', ']', '(', ')']).trim()
}

/// The block that a link to `target` means.
fn note_at(tree: &Tree, target: Id) -> Option<Id> {
    let block = std::iter::once(target).chain(tree.ancestors(target)).find(|&id| tree.tag(id).is_block())?;
    let fits = matches!(tree.tag(block), Tag::Li | Tag::P | Tag::Div | Tag::Dd | Tag::Aside)
        && tree.subtree(block).len() <= MAX_NOTE
        && block != ROOT;
    fits.then_some(block)
}

/// The ids by which a note can link back: those of the link, of the elements around it and in it.
fn names_around(tree: &Tree, link: Id) -> Vec<&str> {
    let around = tree.ancestors(link).take(3).take_while(|&id| !tree.tag(id).is_block());
    let near = std::iter::once(link).chain(around).chain(tree.descendants(link));
    near.filter_map(|id| tree.attr(id, Attr::Id)).collect()
}

/// The outermost element around a reference that has no other text.
fn alone(tree: &Tree, link: Id, mark: &str) -> Id {
    let around = tree.ancestors(link).take_while(|&id| id != ROOT && !tree.tag(id).is_block());
    let same = |id: &Id| tree.subtree(*id).len() <= 16 && bare(&tree.text_content(*id)) == mark;
    around.take_while(same).last().unwrap_or(link)
}

/// The outermost element around a link back that has no other text than such links.
fn only_leads_back(tree: &Tree, back: Id, backs: &[Id]) -> Id {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    let only = |id: &Id| {
        let inside = tree.subtree(*id);
        inside.len() <= 64 && {
            let text = tree.text_content(*id);
            let first = backs.partition_point(|&other| other < inside.start);
            let links = backs[first..].iter().take_while(|&&other| other < inside.end);
            text.len() <= MAX_MARK
                && letters(&text) == links.map(|&link| letters(&tree.text_content(link))).sum::<usize>()
        }
    };
    let around = tree.ancestors(back).take_while(|&id| id != ROOT && !tree.tag(id).is_block());
    around.take_while(only).last().unwrap_or(back)
}

#[cfg(test)]
mod tests {
    use super::super::rendered;

    #[test]
    fn a_note_that_links_back_is_a_footnote() {
        let note = "<p>a<sup><a href=#n id=r>1</a></sup></p><ol><li id=n>b <a href=#r>back</a></ol>";
        assert_eq!(rendered(note), "a[^1]\n\n[^1]: b\n");
        let link = note.replace("href=#r", "href=#x");
        assert!(rendered(&link).contains("[1](#n)"));
    }

    #[test]
    fn marks_that_are_no_labels_are_numbered() {
        let note = "<p>a<a href=#n id=r>†</a></p><p id=n><a href=#r>†</a> b</p>";
        assert_eq!(rendered(note), "a[^1]\n\n[^1]: b\n");
    }
}
