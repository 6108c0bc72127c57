//! The caller's name for an element: `role:accessible name`, visible text, or a CSS selector. ` [2]` at the end
//! selects the second of several.

use super::tree::{Node, ROLES, squeezed};

/// Roles that are equivalent if no element has the requested one.
const ALIKE: [&[&str]; 5] = [
    &["textbox", "searchbox", "combobox", "spinbutton", "date", "color"],
    &["button", "link", "tab", "menuitem", "file"],
    &["checkbox", "switch", "menuitemcheckbox"],
    &["radio", "menuitemradio"],
    &["combobox", "listbox", "button"],
];

/// The name of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Locator {
    /// The original text.
    pub(crate) text: String,
}

/// The result of matching the elements of the list.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// The index of the only match.
    One(usize),
    /// The indices of several equal matches.
    Many(Vec<usize>),
    /// No match.
    None,
}

impl Locator {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned() }
    }

    /// The role and the name, if the text has this form.
    pub(crate) fn role(&self) -> Option<(&'static str, &str)> {
        let (role, name) = self.text.split_once(':')?;
        let role = role.trim();
        let role = ROLES.iter().find(|known| known.eq_ignore_ascii_case(role))?;
        Some((role, name.trim()))
    }

    /// The number at its end.
    pub(super) fn number(&self) -> Option<usize> {
        Self::numbered(&self.text).1
    }

    /// The text without the number at its end, and the number, counted from 1.
    pub(super) fn numbered(text: &str) -> (&str, Option<usize>) {
        let numbered = || {
            let (text, number) = text.strip_suffix(']')?.rsplit_once('[')?;
            let number = number.parse().ok().filter(|number| *number > 0)?;
            Some((text.trim_end(), number))
        };
        numbered().map_or((text, None), |(text, number)| (text, Some(number)))
    }

    /// The ways to find an element by what it shows, then by CSS: the operation of `js/page.js`, its text, and the
    /// number of the element among those that it finds.
    pub(crate) fn shown_as(&self) -> impl Iterator<Item = (&'static str, &str, Option<usize>)> {
        let (plain, number) = Self::numbered(&self.text);
        let texts = [Some((self.text.as_str(), None)), number.map(|number| (plain, Some(number)))];
        let ways = ["by-text", "by-css"]
            .into_iter()
            .flat_map(move |what| texts.into_iter().flatten().map(move |(text, number)| (what, text, number)));
        ways.filter(|(_, text, _)| !text.trim().is_empty())
    }

    /// The role and name of `node`, if it has another role, or more words in its name, than the locator.
    pub(crate) fn other_name(&self, node: &Node) -> Option<String> {
        let (role, name) = self.role()?;
        let is_called = |name: &str| node.name.to_lowercase() == squeezed(name).to_lowercase();
        let is_cut = name.ends_with('…') && node.name.starts_with(name.trim_end_matches('…').trim_end());
        let is_named = is_cut || is_called(name) || is_called(Self::numbered(name).0);
        (node.role != role || !is_named).then(|| format!("{}:{}", node.role, node.name))
    }

    /// Matches `nodes` by role and name, or by text.
    pub(crate) fn among(&self, nodes: &[Node]) -> Match {
        match self.role() {
            Some((role, name)) => by_role(nodes, role, name),
            None => by_text(nodes, &self.text),
        }
    }
}

/// Tests of a name, the strictest first.
const NAME_TESTS: [fn(&str, &str) -> bool; 3] = [
    |name, wanted| name == wanted,
    |name, wanted| name.to_lowercase() == wanted.to_lowercase(),
    |name, wanted| {
        let beginning = wanted.strip_suffix('…').map(str::trim_end);
        has_words(&name.to_lowercase(), &beginning.unwrap_or(wanted).to_lowercase(), beginning.is_none())
    },
];

/// Whether `name` contains `wanted` from the beginning of a word, and to the end of one unless only a beginning is wanted:
/// Delete is not Undelete, and Follow is not Following.
fn has_words(name: &str, wanted: &str, is_whole: bool) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    // Chinese, Japanese and Korean have no marks between words and particles.
    let continues = |c: Option<char>| is_letter(c) && c.is_some_and(|c| !('\u{2e80}'..='\u{ffdc}').contains(&c));
    let is_word = |(at, found): (usize, &str)| {
        let begins = !is_letter(name[..at].chars().next_back()) || !is_letter(found.chars().next());
        let ends = !continues(name[at + found.len()..].chars().next()) || !continues(found.chars().next_back());
        begins && (ends || !is_whole)
    };
    !wanted.is_empty() && name.match_indices(wanted).any(is_word)
}

fn by_role(nodes: &[Node], role: &str, name: &str) -> Match {
    let alike = ALIKE.iter().filter(|group| group.contains(&role)).flat_map(|group| group.iter().copied());
    let alike: Vec<&str> = alike.filter(|other| *other != role).collect();
    let is_exact = |node: &Node| node.role == role;
    let is_alike = |node: &Node| alike.contains(&node.role);
    let kinds: [&dyn Fn(&Node) -> bool; 2] = [&is_exact, &is_alike];
    // The number first: an element whose own name ends with that of another one has a number of its own in the list.
    let (plain, number) = Locator::numbered(name);
    for how in NAME_TESTS {
        for kind in kinds {
            let numbered = number.map(|number| (plain, Some(number)));
            for (name, number) in numbered.into_iter().chain([(name, None)]) {
                let fits = |node: &Node| kind(node) && how(&node.name, &squeezed(name));
                let found: Vec<usize> = (0..nodes.len()).filter(|index| fits(&nodes[*index])).collect();
                if let Some(fit) = chosen(nodes, found, number) {
                    return fit;
                }
            }
        }
    }
    Match::None
}

fn by_text(nodes: &[Node], text: &str) -> Match {
    let (plain, number) = Locator::numbered(text);
    for how in &NAME_TESTS[..2] {
        for (text, number) in [(text, None), (plain, number)] {
            let wanted = squeezed(text);
            if wanted.is_empty() {
                continue;
            }
            let fitting: Vec<usize> = (0..nodes.len()).filter(|index| how(&nodes[*index].name, &wanted)).collect();
            // Elements that can be acted on before elements that only show the text, which may be nested in
            // them.
            let acting: Vec<usize> = fitting.iter().copied().filter(|index| nodes[*index].acts()).collect();
            let found = if acting.is_empty() { innermost(nodes, &fitting) } else { acting };
            if let Some(fit) = chosen(nodes, found, number) {
                return fit;
            }
        }
    }
    Match::None
}

/// Removes matches that contain another match with the same text.
fn innermost(nodes: &[Node], found: &[usize]) -> Vec<usize> {
    let mut kept: Vec<usize> = vec![];
    for &index in found {
        let same = |other: &usize| nodes[*other].within.is_some() && nodes[*other].within == nodes[index].within;
        let before = kept.last().is_some_and(|last| index - last == 1 && nodes[*last].name == nodes[index].name);
        if !kept.iter().any(same) && !before {
            kept.push(index);
        }
    }
    kept
}

/// Selects a match: number `number`, or the only one. Links to the same URL count as one. Elements in frames
/// count only if the page itself has no match.
fn chosen(nodes: &[Node], found: Vec<usize>, number: Option<usize>) -> Option<Match> {
    if let Some(number) = number {
        return found.get(number - 1).map(|index| Match::One(*index));
    }
    let first = *found.first()?;
    let of_page: Vec<usize> = found.iter().copied().filter(|index| nodes[*index].is_own).collect();
    let found = if of_page.is_empty() { found } else { of_page };
    let same = |index: &usize| nodes[*index].url.is_some() && nodes[*index].url == nodes[first].url;
    if found.len() == 1 || found.iter().all(same) { Some(Match::One(found[0])) } else { Some(Match::Many(found)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::ElementId;

    fn node(role: &'static str, name: &str, frame: &str) -> Node {
        let element_id = ElementId { session: None, frame: frame.into(), node: 1 };
        Node { element_id, is_own: frame == "top", ..Node::shown(role, name) }
    }

    fn nodes() -> Vec<Node> {
        vec![
            node("link", "Guides", "top"),
            node("button", "Edit", "top"),
            node("button", "Edit", "top"),
            node("button", "Load more", "top"),
            node("searchbox", "Search", "top"),
            node("button", "Array [2]", "top"),
            node("", "Plain words", "top"),
            node("button", "Load more", "inner"),
            node("button", "Only inside", "inner"),
        ]
    }

    fn fit(locator: &str) -> Match {
        Locator::new(locator).among(&nodes())
    }

    #[test]
    fn an_element_is_named_by_role_and_name() {
        assert_eq!(fit("link:Guides"), Match::One(0));
        assert_eq!(fit("Link: guides"), Match::One(0));
        assert_eq!(fit("button:load m…"), Match::One(3));
        // Equivalent roles.
        assert_eq!(fit("textbox:Search"), Match::One(4));
        assert_eq!(fit("link:Load more"), Match::One(3));
        assert_eq!(fit("button:Nothing"), Match::None);
        assert_eq!(fit("checkbox:Guides"), Match::None);
    }

    #[test]
    fn a_part_of_a_name_is_whole_words() {
        let nodes = ["Undelete", "Unsubscribe", "Following", "Save as text", "不同意", "購入する"]
            .map(|name| node("button", name, "top"));
        let fit = |locator: &str| Locator::new(locator).among(&nodes);
        for none in
            ["button:Delete", "button:subscribe", "button:Follow", "button:ave as", "button:同意", "button:text…s"]
        {
            assert_eq!(fit(none), Match::None, "{none}");
        }
        for (locator, index) in [
            ("button:Follow…", 2),
            ("button:Save", 3),
            ("button:as text", 3),
            ("button:text", 3),
            ("button:a…", 3),
            ("button:購入", 5),
        ] {
            assert_eq!(fit(locator), Match::One(index), "{locator}");
        }
        let other = |locator: &str, index: usize| Locator::new(locator).other_name(&nodes[index]);
        assert_eq!(other("button:Save", 3).as_deref(), Some("button:Save as text"));
        for locator in ["button:save AS text", "button:Save as text [1]", "button:Save…", "Save"] {
            assert_eq!(other(locator, 3), None, "{locator}");
        }
        assert_eq!(other("link:Save as text", 3).as_deref(), Some("button:Save as text"));
    }

    #[test]
    fn equal_names_are_distinguished_by_a_number() {
        assert_eq!(fit("button:Edit"), Match::Many(vec![1, 2]));
        assert_eq!(fit("button:Edit [2]"), Match::One(2));
        assert_eq!(fit("button:Edit [3]"), Match::None);
        assert_eq!(fit("button:Array [2]"), Match::One(5));
        let nodes = ["Item [2]", "Item", "Item", "[1]", ""].map(|name| node("button", name, "top"));
        for (locator, index) in [
            ("button:Item [2] [1]", 0),
            ("button:Item [1]", 1),
            ("button:Item [2]", 2),
            ("button:[1] [1]", 3),
            ("button: [1]", 4),
        ] {
            assert_eq!(Locator::new(locator).among(&nodes), Match::One(index), "{locator}");
        }
        assert_eq!(fit("Edit [1]"), Match::One(1));
    }

    #[test]
    fn links_to_the_same_url_are_one_match() {
        let mut nodes = vec![node("link", "Home", "top"), node("link", "Home", "top")];
        for node in &mut nodes {
            node.url = Some("https://x.example/".into());
        }
        assert_eq!(Locator::new("link:Home").among(&nodes), Match::One(0));
        nodes[1].url = Some("https://x.example/other".into());
        assert_eq!(Locator::new("link:Home").among(&nodes), Match::Many(vec![0, 1]));
    }

    #[test]
    fn without_a_role_the_visible_text_is_searched() {
        assert_eq!(fit("Guides"), Match::One(0));
        assert_eq!(fit("plain words"), Match::One(6));
        assert_eq!(fit("Only inside"), Match::One(8));
        // The text is neither a role and name nor visible, so it is tried as CSS.
        assert_eq!(fit("a:hover"), Match::None);
        assert_eq!(fit(""), Match::None);
        assert_eq!(Locator::new("button:x").among(&[]), Match::None);
    }
}
