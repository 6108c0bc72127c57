//! The words of commands with the known variables substituted, as they may be when the line runs.

use std::collections::BTreeMap;

use tree_sitter::{Node, Tree};

use super::names::line_fetches;
use crate::{
    Scope,
    syntax::{children, nodes, text},
    word::split,
};

/// A placeholder for an unknown value. The name of the variable that has it may follow, up to [`NAMED`].
pub(super) const UNKNOWN: char = '\u{1}';
/// A mark after [`UNKNOWN`], if the value comes from the web.
pub(super) const WEB: char = '\u{2}';
/// The end of a variable's name after [`UNKNOWN`].
const NAMED: char = '\u{3}';

/// The longest value of a variable that is known, in bytes. It is that of a path.
const MAX_VALUE: usize = 4_096;

/// The most values of a variable that are examined.
const MAX_VALUES: usize = 20;

/// The nodes that set a variable.
pub(super) const SETS: [&str; 2] = ["variable_assignment", "for_statement"];

/// A text for the person who decides: what is not known is the variable that has it, or `…`.
pub(super) fn quoted(text: &str) -> String {
    let mut parts = text.split(UNKNOWN);
    let known = parts.next().unwrap_or_default().to_owned();
    let whole = parts.fold(known, |before, part| match variable(part) {
        Some((name, after)) => format!("{before}${name}{after}"),
        None => format!("{before}…{part}"),
    });
    whole.replace(WEB, "")
}

/// Whether two words with this text are the same when the line runs: each unknown value is that of a variable.
pub(super) fn is_definite(text: &str) -> bool {
    text.split(UNKNOWN).skip(1).all(|part| variable(part).is_some())
}

/// The name of the variable at the start of a text after [`UNKNOWN`], and the rest of the text.
fn variable(after: &str) -> Option<(&str, &str)> {
    let (name, rest) = after.split_once(NAMED)?;
    name.chars().all(is_of_name).then_some((name, rest))
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The words of a line, with known variables substituted.
pub(super) struct Words<'l> {
    line: &'l str,
    /// The values that a variable has, one after the other.
    variables: BTreeMap<String, Vec<String>>,
}

impl<'l> Words<'l> {
    /// The words of `line`, with the variables that it sets, and `arguments` as its `$1`, `$2` and so on.
    pub(super) fn of(line: &'l str, tree: &Tree, scope: &Scope, arguments: &[String]) -> Self {
        let mut words = Self { line, variables: BTreeMap::new() };
        if let Some(home) = scope.home() {
            words.set("HOME", vec![home.to_string_lossy().into_owned()]);
        }
        words.set("PWD", vec![scope.cwd().to_string_lossy().into_owned()]);
        words.set_arguments(arguments);
        for node in nodes(tree.root_node()).filter(|node| SETS.contains(&node.kind())).take(100) {
            words.sets(node);
        }
        words.read_from_web(tree);
        words
    }

    /// Sets the variable of an assignment or of a loop, one of [`SETS`].
    pub(super) fn sets(&mut self, node: Node<'_>) {
        let name = node.child_by_field_name("name").or_else(|| node.child_by_field_name("variable"));
        let Some(name) = name.map(|name| text(self.line, name)) else { return };
        let mut cursor = node.walk();
        let values = node.children_by_field_name("value", &mut cursor).flat_map(|value| match value.kind() {
            "array" => children(value).into_iter().filter(Node::is_named).collect(),
            _ => vec![value],
        });
        let values: Vec<_> = values.flat_map(|value| self.word(text(self.line, value))).take(MAX_VALUES).collect();
        self.set(name, values);
    }

    /// Sets the variables that the command `words` sets; `input` is its here-document or here-string.
    pub(super) fn set_by(&mut self, words: &[String], input: Option<&str>) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match (words.as_slice(), input) {
            (["set", "--", arguments @ ..], _) => {
                let arguments: Vec<_> = arguments.iter().map(|word| (*word).to_owned()).collect();
                self.set_arguments(&arguments);
            }
            (["printf", "-v", name, format, arguments @ ..], _) => {
                let mut value = (*format).to_owned();
                for argument in arguments {
                    value = value.replacen("%s", argument, 1);
                }
                self.set(name, vec![value]);
            }
            (["read", options @ .., name], Some(input)) if options.iter().all(|word| word.starts_with('-')) => {
                self.set(name, vec![input.trim().to_owned()]);
            }
            _ => {}
        }
    }

    fn set_arguments(&mut self, arguments: &[String]) {
        if arguments.is_empty() {
            return;
        }
        for (at, argument) in arguments.iter().enumerate().take(9) {
            self.set(&(at + 1).to_string(), vec![argument.clone()]);
        }
        let all: Vec<_> = arguments.iter().take(MAX_VALUES).cloned().collect();
        self.set("*", all.clone());
        self.set("@", all);
    }

    /// Sets a variable. What is not known of its values is named after it.
    fn set(&mut self, name: &str, values: Vec<String>) {
        let named = |value: String| {
            let mut parts = value.split(UNKNOWN);
            let known = parts.next().unwrap_or_default().to_owned();
            parts.fold(known, |before, part| match variable(part) {
                None if !part.starts_with(WEB) && name.chars().all(is_of_name) => {
                    format!("{before}{UNKNOWN}{name}{NAMED}{part}")
                }
                _ => format!("{before}{UNKNOWN}{part}"),
            })
        };
        let values = values.into_iter().map(|value| if value.len() > MAX_VALUE { UNKNOWN.to_string() } else { value });
        let values: Vec<_> = values.map(named).collect();
        if !values.is_empty() {
            self.variables.insert(name.to_owned(), values);
        }
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
                self.set(name, vec![format!("{UNKNOWN}{WEB}")]);
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

    /// The possible values of one word; a brace list and a variable may have several.
    pub(super) fn word(&self, raw: &str) -> Vec<String> {
        let most = self.variables.iter().filter(|(name, values)| values.len() > 1 && raw.contains(name.as_str()));
        let most = most.map(|(_, values)| values.len()).max().unwrap_or(1);
        let mut words: Vec<_> = (0..most).flat_map(|at| self.list(raw, at)).collect();
        words.dedup();
        words
    }

    /// One word, in which the variables have their values number `at`.
    fn list(&self, raw: &str, at: usize) -> Vec<String> {
        let says = self.expanded(raw, at);
        let Some((open, close)) = says.find('{').zip(says.find('}')) else { return vec![says] };
        if open > close || !says[open..close].contains(',') || raw.contains(['\'', '"']) {
            return vec![says];
        }
        let (before, after) = (&says[..open], &says[close + 1..]);
        says[open + 1..close].split(',').map(|part| format!("{before}{part}{after}")).collect()
    }

    fn expanded(&self, raw: &str, at: usize) -> String {
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
                '$' if after.starts_with('(') || after.starts_with('{') => self.substituted(after, at, &mut says),
                '$' => {
                    let name = after.find(|c| !is_of_name(c)).unwrap_or(after.len());
                    // The arguments have names of one character.
                    let end =
                        if after.starts_with(|c: char| c.is_ascii_digit() || "@*".contains(c)) { 1 } else { name };
                    match &after[..end] {
                        "" => says.push('$'),
                        name => says.push_str(&self.value(name, at)),
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
        match user {
            "" => self.value("HOME", 0),
            "+" => self.value("PWD", 0),
            "root" => "/root".to_owned(),
            name if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => format!("/home/{name}"),
            other => format!("~{other}"),
        }
    }

    /// The value number `at` of a variable.
    fn value(&self, name: &str, at: usize) -> String {
        match self.variables.get(name).and_then(|values| values.get(at).or(values.last())) {
            Some(value) => value.clone(),
            None if name.chars().all(is_of_name) => format!("{UNKNOWN}{name}{NAMED}"),
            None => UNKNOWN.to_string(),
        }
    }

    /// `(…)` or `{…}` after a dollar sign.
    fn substituted<'r>(&self, after: &'r str, at: usize, says: &mut String) -> &'r str {
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
            // `${HOME%x}` and similar expansions are treated as the variable.
            let length =
                if inner.starts_with(['@', '*']) { 1 } else { inner.find(|c| !is_of_name(c)).unwrap_or(inner.len()) };
            let (name, rest) = inner.split_at(length);
            match ["-", ":-", "=", ":="].iter().find_map(|sign| rest.strip_prefix(sign)) {
                Some(default) if !self.variables.contains_key(name) => says.push_str(&self.expanded(default, at)),
                _ => says.push_str(&self.value(name, at)),
            }
        }
        after.get(end + 1..).unwrap_or_default()
    }

    /// Appends the output of a command substitution.
    fn printed(&self, inner: &str, says: &mut String) {
        let mut words = inner.split_ascii_whitespace();
        match words.next() {
            Some("pwd") => says.push_str(&self.value("PWD", 0)),
            Some("echo" | "printf") => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_value_is_shown_as_its_variable() {
        let named = format!("rm {UNKNOWN}DIR{NAMED}/a");
        assert_eq!((quoted(&named).as_str(), is_definite(&named)), ("rm $DIR/a", true));
        let unknown = format!("{UNKNOWN}{WEB}/a {UNKNOWN}not a name{NAMED}");
        assert_eq!(quoted(&unknown), format!("…/a …not a name{NAMED}"));
        assert!(!is_definite(&unknown));
        assert!(is_definite("plain") && quoted("plain") == "plain");
    }
}
