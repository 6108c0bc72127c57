//! The words of commands with the known variables substituted, as they may be when the line runs.

use std::collections::BTreeMap;

use tree_sitter::{Node, Tree};

use super::names::line_fetches;
use crate::{
    Scope,
    syntax::{children, nodes, text},
    word::split,
};

/// A placeholder for an unknown value.
pub(super) const UNKNOWN: char = '\u{1}';
/// A mark after [`UNKNOWN`], if the value comes from the web.
pub(super) const WEB: char = '\u{2}';

/// A text for the person who decides, with `…` for what is not known.
pub(super) fn shown(text: &str) -> String {
    text.replace(WEB, "").replace(UNKNOWN, "…")
}

/// The words of a line, with known variables substituted.
pub(super) struct Words<'l> {
    line: &'l str,
    variables: BTreeMap<String, String>,
}

impl<'l> Words<'l> {
    /// The words of `line`, with the variables that it sets.
    pub(super) fn of(line: &'l str, tree: &Tree, scope: &Scope) -> Self {
        let mut words = Self { line, variables: BTreeMap::new() };
        if let Some(home) = scope.home() {
            words.variables.insert("HOME".to_owned(), home.to_string_lossy().into_owned());
        }
        words.variables.insert("PWD".to_owned(), scope.cwd().to_string_lossy().into_owned());
        for node in nodes(tree.root_node()).filter(|node| node.kind() == "variable_assignment").take(100) {
            let name = node.child_by_field_name("name").map(|name| text(line, name));
            let value = node.child_by_field_name("value").map(|value| words.word(text(line, value)));
            if let (Some(name), Some(Some(value))) = (name, value.map(|value| value.into_iter().next())) {
                words.variables.insert(name.to_owned(), value);
            }
        }
        words.read_from_web(tree);
        words
    }

    /// Marks the variables that `read` sets to what a command before it in the pipe fetches.
    fn read_from_web(&mut self, tree: &Tree) {
        let reads = |node: &Node<'_>| {
            let name = node.child_by_field_name("name").map(|name| text(self.line, name)).unwrap_or_default();
            node.kind() == "command" && ["read", "mapfile", "readarray"].contains(&name)
        };
        let reading: Vec<_> = nodes(tree.root_node()).filter(reads).take(100).collect();
        for node in reading {
            let mut above = std::iter::successors(Some(node), Node::parent);
            let Some(pipe) = above.find(|node| node.kind() == "pipeline") else { continue };
            if !line_fetches(self.line[pipe.start_byte()..node.start_byte()].trim_end_matches(['|', ' '])) {
                continue;
            }
            for name in children(node).into_iter().skip(1).map(|child| text(self.line, child)) {
                self.variables.insert(name.to_owned(), format!("{UNKNOWN}{WEB}"));
            }
        }
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'l str {
        text(self.line, node)
    }

    /// The words of a command, its name first, without redirects and assignments.
    pub(super) fn command(&self, node: Node<'_>) -> Vec<String> {
        let skipped = ["variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect"];
        let parts = children(node).into_iter().filter(|child| child.is_named() && !skipped.contains(&child.kind()));
        let mut words: Vec<String> = parts.flat_map(|child| self.word(self.text(child))).collect();
        split_of_env(&mut words);
        // An unquoted variable is split into words.
        match words.split_first() {
            Some((first, rest)) if first.contains(' ') => {
                first.split(' ').map(str::to_owned).chain(rest.iter().cloned()).collect()
            }
            _ => words,
        }
    }

    /// The possible values of one word; a brace list has several.
    pub(super) fn word(&self, raw: &str) -> Vec<String> {
        let says = self.expanded(raw);
        let Some((open, close)) = says.find('{').zip(says.find('}')) else { return vec![says] };
        if open > close || !says[open..close].contains(',') || raw.contains(['\'', '"']) {
            return vec![says];
        }
        let (before, after) = (&says[..open], &says[close + 1..]);
        says[open + 1..close].split(',').map(|part| format!("{before}{part}{after}")).collect()
    }

    fn expanded(&self, raw: &str) -> String {
        let (mut says, mut rest, mut double) = (String::new(), raw, false);
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            rest = match c {
                '\'' if !double => {
                    let end = after.find('\'').unwrap_or(after.len());
                    says.push_str(&after[..end]);
                    after.get(end + 1..).unwrap_or_default()
                }
                '"' => {
                    double = !double;
                    after
                }
                '\\' => match after.chars().next() {
                    Some('\n') => &after[1..],
                    Some(c) => {
                        says.push(c);
                        &after[c.len_utf8()..]
                    }
                    None => "",
                },
                '$' if after.starts_with('\'') && !double => {
                    let end = after[1..].find('\'').map_or(after.len(), |end| end + 1);
                    says.push_str(&escapes(after.get(1..end).unwrap_or_default()));
                    after.get(end + 1..).unwrap_or_default()
                }
                '$' if after.starts_with('(') || after.starts_with('{') => self.substituted(after, &mut says),
                '$' => {
                    let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
                    match self.variables.get(&after[..end]) {
                        _ if end == 0 => says.push('$'),
                        Some(value) => says.push_str(value),
                        None => says.push(UNKNOWN),
                    }
                    &after[end..]
                }
                '`' => {
                    let end = after.find('`').unwrap_or(after.len());
                    self.printed(&after[..end], &mut says);
                    after.get(end + 1..).unwrap_or_default()
                }
                // Bash substitutes it after `=` and `:` as well, as in `dd of=~/x`.
                '~' if !double && (rest.len() == raw.len() || says.ends_with(['=', ':'])) => {
                    let end = after.find(['/', ':', '\'', '"', '\\']).unwrap_or(after.len());
                    says.push_str(&self.home(&after[..end]));
                    &after[end..]
                }
                c => {
                    says.push(c);
                    after
                }
            };
        }
        says
    }

    /// `~` with the name of a user after it.
    fn home(&self, user: &str) -> String {
        let value = |name: &str| self.variables.get(name).cloned().unwrap_or_else(|| UNKNOWN.to_string());
        match user {
            "" => value("HOME"),
            "+" => value("PWD"),
            "root" => "/root".to_owned(),
            name if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => format!("/home/{name}"),
            other => format!("~{other}"),
        }
    }

    /// `(…)` or `{…}` after a dollar sign.
    fn substituted<'r>(&self, after: &'r str, says: &mut String) -> &'r str {
        let (open, close) = if after.starts_with('(') { ('(', ')') } else { ('{', '}') };
        let mut depth = 0;
        let end = after.char_indices().find(|(_, c)| {
            depth += i32::from(*c == open) - i32::from(*c == close);
            depth == 0
        });
        let end = end.map_or(after.len(), |(at, _)| at);
        let inner = after.get(1..end).unwrap_or_default();
        if open == '(' {
            self.printed(inner, says);
        } else {
            // `${HOME:-x}` and similar expansions are treated as the variable.
            let name = inner.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
            match self.variables.get(name) {
                Some(value) => says.push_str(value),
                None => says.push(UNKNOWN),
            }
        }
        after.get(end + 1..).unwrap_or_default()
    }

    /// Appends the output of a command substitution.
    fn printed(&self, inner: &str, says: &mut String) {
        let mut words = inner.split_ascii_whitespace();
        match (words.next(), self.variables.get("PWD")) {
            (Some("pwd"), Some(cwd)) => says.push_str(cwd),
            (Some("echo" | "printf"), _) => {
                says.push_str(words.collect::<Vec<_>>().join(" ").trim_matches(['"', '\'']));
            }
            _ => {
                says.push(UNKNOWN);
                if line_fetches(inner) {
                    says.push(WEB);
                }
            }
        }
    }
}

/// Replaces the option of `env` that has a command in one word by the words of the command.
fn split_of_env(words: &mut Vec<String>) {
    let Some(env) = words.iter().position(|word| word == "env" || word.ends_with("/env")) else { return };
    let letters = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains('S');
    let Some(at) = (env + 1..words.len()).find(|at| letters(&words[*at]) || words[*at].starts_with("--split-string"))
    else {
        return;
    };
    let attached = match words[at].strip_prefix("--split-string") {
        Some(value) => value.trim_start_matches('=').to_owned(),
        None => words[at].split_once('S').map(|(_, value)| value.to_owned()).unwrap_or_default(),
    };
    let (line, end) = match (attached.is_empty(), words.get(at + 1)) {
        (true, Some(next)) => (next.clone(), at + 2),
        _ => (attached, at + 1),
    };
    if let Ok(parts) = split(&line) {
        words.splice(at..end, parts.into_iter().map(|part| part.text));
    }
}

/// Decodes the escapes of `$'…'`.
fn escapes(text: &str) -> String {
    let (mut says, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('\\') {
        says.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let digits = |skip: usize, most: usize, radix: u32| {
            let digits: String = after.chars().skip(skip).take(most).take_while(|c| c.is_digit(radix)).collect();
            u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32).map(|c| (c, skip + digits.len()))
        };
        let (c, length) = match after.chars().next() {
            Some('x') => digits(1, 2, 16).unwrap_or(('x', 1)),
            Some('u') => digits(1, 4, 16).unwrap_or(('u', 1)),
            Some('0'..='7') => digits(0, 3, 8).unwrap_or(('0', 1)),
            Some('n') => ('\n', 1),
            Some('t') => ('\t', 1),
            Some(c) => (c, c.len_utf8()),
            None => ('\\', 0),
        };
        says.push(c);
        rest = after.get(length..).unwrap_or_default();
    }
    says + rest
}
