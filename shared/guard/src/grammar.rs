//! The grammar of lines that may run without approval: plain words joined by `&&`, `||`, `;` and `|`, with redirects
//! that read, or write to `/dev/null`.
//!
//! The syntax tree gives the words and the constructs of a line. The words themselves are read again from the text, and
//! the text between them must be blank. The nesting of the tree is not used, because it parses `a | b && c` as
//! `a | (b && c)`.

use std::path::PathBuf;

use tree_sitter::{Node, Tree};

use crate::{
    Reason, Scope, paths,
    programs::{self, Allowed, CommandContext},
    syntax::{children, nodes, text},
    word::{Word, split, unquoted},
};

/// A part of a plain line, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A command with its words.
    Command(Vec<Word>),
    /// A redirect that reads a file.
    Input(Word),
    /// A redirect without effect on files.
    NoEffect,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `!`
    Not,
    /// `;` or a line break.
    Separator,
}

/// The maximum nesting depth of lines, as in `sh -c 'sh -c ls'`.
const MAX_DEPTH: usize = 3;

/// The parts of a line in the grammar.
///
/// # Errors
///
/// The first construct outside the grammar.
pub(crate) fn parts(line: &str, tree: &Tree) -> Result<Vec<Part>, Reason> {
    let root = tree.root_node();
    if root.has_error() {
        return Err(Reason::new("syntax", "it cannot be parsed"));
    }
    let (mut parts, mut end) = (vec![], 0);
    for node in nodes(root) {
        // This node is inside a part that was read already.
        if node.start_byte() < end {
            continue;
        }
        match node.kind() {
            "program" | "list" | "pipeline" | "redirected_statement" | "negated_command" => {}
            "command" => {
                gap(line, &mut end, node, &mut parts)?;
                command(line, node, &mut parts)?;
            }
            "test_command" => {
                gap(line, &mut end, node, &mut parts)?;
                let raw = text(line, node);
                if raw.starts_with("[[") || raw.starts_with("((") {
                    return Err(construct(raw));
                }
                let mut words = split(raw)?;
                // The bracket of a test command is not a pattern.
                if let Some(first) = words.first_mut().filter(|first| first.text == "[") {
                    *first = Word::plain("[");
                }
                parts.push(Part::Command(words));
            }
            "file_redirect" => {
                gap(line, &mut end, node, &mut parts)?;
                parts.push(redirect(line, node)?);
            }
            "&&" | "||" | "|" | ";" | "\n" => {
                gap(line, &mut end, node, &mut parts)?;
                parts.push(match node.kind() {
                    "&&" => Part::And,
                    "||" => Part::Or,
                    "|" => Part::Pipe,
                    _ => Part::Separator,
                });
            }
            "!" => {
                gap(line, &mut end, node, &mut parts)?;
                parts.push(Part::Not);
            }
            "comment" => gap(line, &mut end, node, &mut parts)?,
            _ => return Err(construct(text(line, node))),
        }
    }
    blank(line.get(end..).unwrap_or("?"), &mut parts)?;
    Ok(parts)
}

fn construct(raw: &str) -> Reason {
    let start: String = raw.chars().take(60).collect();
    Reason::new("construct", format!("{start:?} is not a simple command"))
}

/// Advances to `node`, after checking the text before it.
fn gap(line: &str, end: &mut usize, node: Node<'_>, parts: &mut Vec<Part>) -> Result<(), Reason> {
    let between = line.get(*end..node.start_byte()).unwrap_or("?");
    *end = node.end_byte();
    blank(between, parts)
}

/// Checks the text between two parts; a line break ends a command.
fn blank(between: &str, parts: &mut Vec<Part>) -> Result<(), Reason> {
    let joined = between.replace("\\\n", " ");
    if !joined.chars().all(|c| matches!(c, ' ' | '\t' | '\n')) {
        return Err(Reason::new("syntax", format!("{between:?} is not understood")));
    }
    let goes_on = matches!(parts.last(), None | Some(Part::And | Part::Or | Part::Pipe | Part::Not | Part::Separator));
    if joined.contains('\n') && !goes_on {
        parts.push(Part::Separator);
    }
    Ok(())
}

/// The words of a command, and its redirects.
fn command(line: &str, node: Node<'_>, parts: &mut Vec<Part>) -> Result<(), Reason> {
    let (mut words, mut redirects, mut end) = (vec![], vec![], node.start_byte());
    for child in children(node) {
        let between = line.get(end..child.start_byte()).unwrap_or("?").replace("\\\n", " ");
        if !between.chars().all(|c| matches!(c, ' ' | '\t')) {
            return Err(Reason::new("syntax", format!("{between:?} is not understood")));
        }
        end = child.end_byte();
        match child.kind() {
            "command_name" | "word" | "string" | "raw_string" | "number" | "concatenation" => {
                // Two nodes without a blank between them are one word of the shell.
                if between.is_empty() && !words.is_empty() {
                    return Err(construct(text(line, node)));
                }
                words.push(unquoted(text(line, child))?);
            }
            "file_redirect" => redirects.push(redirect(line, child)?),
            _ => return Err(construct(text(line, child))),
        }
    }
    if words.is_empty() {
        return Err(construct(text(line, node)));
    }
    parts.push(Part::Command(words));
    parts.extend(redirects);
    Ok(())
}

/// A redirect that reads a file, or has no effect on files: `2>/dev/null`, `2>&1`.
fn redirect(line: &str, node: Node<'_>) -> Result<Part, Reason> {
    let raw = text(line, node);
    let mut rest = raw.trim_start_matches(|c: char| c.is_ascii_digit());
    let refused = || Reason::new("redirect", format!("{raw:?} redirects to a file, or uses an unknown value"));
    for operator in ["<", ">>", ">&", ">"] {
        let Some(target) = rest.strip_prefix(operator) else { continue };
        rest = target.trim_start_matches([' ', '\t']);
        let target = unquoted(rest)?;
        return match operator {
            "<" if !rest.starts_with(['&', '>', '<']) => Ok(Part::Input(target)),
            ">&" if ["1", "2"].contains(&rest) => Ok(Part::NoEffect),
            ">" | ">>" if target == Word::plain("/dev/null") => Ok(Part::NoEffect),
            _ => Err(refused()),
        };
    }
    Err(refused())
}

/// The words of a line that is a single command.
pub(crate) fn only_command(parts: &[Part]) -> Option<&[Word]> {
    match parts {
        [Part::Command(words)] | [Part::Command(words), Part::Separator] => Some(words),
        _ => None,
    }
}

/// Checks that every command of a line only reads paths that it may read.
pub(crate) fn check(parts: &[Part], scope: &Scope) -> Result<(), Reason> {
    check_in(parts, &[scope.cwd().to_path_buf()], scope, 0)
}

/// The same for a line that is an argument of another.
fn check_line(line: &str, cwds: &[PathBuf], scope: &Scope, depth: usize) -> Result<(), Reason> {
    if depth >= MAX_DEPTH {
        return Err(Reason::new("construct", "a line in a line in a line"));
    }
    let tree = crate::syntax::parse(line).ok_or_else(|| Reason::new("syntax", "it cannot be parsed"))?;
    check_in(&parts(line, &tree)?, cwds, scope, depth)
}

fn check_in(parts: &[Part], cwds: &[PathBuf], scope: &Scope, depth: usize) -> Result<(), Reason> {
    if !parts.iter().any(|part| matches!(part, Part::Command(_))) {
        return Err(Reason::new("syntax", "there is no command in it"));
    }
    let mut here = cwds.to_vec();
    for list in parts.split(|part| *part == Part::Separator) {
        // The possible working directories after a part of the list that succeeded, and after one that failed.
        let (mut success, mut failure) = (here.clone(), vec![]);
        let mut rest = list;
        let mut operator = None;
        while !rest.is_empty() {
            let end = rest.iter().position(|part| matches!(part, Part::And | Part::Or)).unwrap_or(rest.len());
            let start = match operator {
                Some(Part::Or) => failure.clone(),
                _ => success.clone(),
            };
            let (went, stayed) = pipeline(&rest[..end], &start, scope, depth)?;
            (success, failure) = if operator == Some(Part::Or) {
                (joined(success, went), stayed)
            } else {
                (went, joined(failure, stayed))
            };
            operator = rest.get(end).cloned();
            rest = rest.get(end + 1..).unwrap_or_default();
            if operator.is_some() && rest.is_empty() {
                return Err(Reason::new("syntax", "nothing follows the last operator"));
            }
        }
        here = joined(success, failure);
    }
    Ok(())
}

fn joined(mut one: Vec<PathBuf>, other: Vec<PathBuf>) -> Vec<PathBuf> {
    for path in other {
        if !one.contains(&path) {
            one.push(path);
        }
    }
    one
}

/// Checks one pipeline that starts in any of `cwds`. Returns the possible working directories after success and
/// after failure.
fn pipeline(
    parts: &[Part],
    cwds: &[PathBuf],
    scope: &Scope,
    depth: usize,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Reason> {
    let (mut went, mut commands) = (cwds.to_vec(), 0);
    for stage in parts.split(|part| *part == Part::Pipe) {
        let mut named = false;
        for part in stage {
            match part {
                Part::Command(words) => {
                    if std::mem::replace(&mut named, true) {
                        return Err(Reason::new("syntax", "two commands without an operator between them"));
                    }
                    commands += 1;
                    paths::no_options(words, cwds)?;
                    went = match programs::check(words, &CommandContext { cwds, scope })? {
                        Allowed::Directories(cwds) => cwds,
                        Allowed::Line(line) => {
                            check_line(line, cwds, scope, depth + 1)?;
                            cwds.to_vec()
                        }
                    };
                }
                Part::Input(word) if word.globs.is_empty() => paths::check(word, cwds, scope)?,
                Part::Input(_) => return Err(Reason::new("redirect", "a pattern as the file to read")),
                _ => {}
            }
        }
        if !named {
            return Err(Reason::new("syntax", "there is no command in it"));
        }
    }
    // Each command of a pipeline runs in a subshell, so `cd` has no effect on the rest.
    if commands > 1 {
        went = cwds.to_vec();
    }
    if parts.contains(&Part::Not) {
        let both = joined(went, cwds.to_vec());
        return Ok((both.clone(), both));
    }
    Ok((went, cwds.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Vec<Part>, Reason> {
        parts(line, &crate::syntax::parse(line).unwrap())
    }

    fn command(words: &[&str]) -> Part {
        Part::Command(words.iter().map(|word| Word::plain(word)).collect())
    }

    #[test]
    fn a_plain_line_is_its_commands_and_operators() {
        let expected = [
            command(&["ls", "-l"]),
            Part::NoEffect,
            Part::Pipe,
            command(&["wc"]),
            Part::And,
            Part::Not,
            command(&["grep", "a b", "c"]),
            Part::Input(Word::plain("d")),
            Part::Separator,
            command(&["pwd"]),
        ];
        assert_eq!(read("ls -l 2>/dev/null | wc && ! grep 'a b' c <d; pwd").unwrap(), expected);
        assert_eq!(read("ls\n\npwd # all").unwrap(), [command(&["ls"]), Part::Separator, command(&["pwd"])]);
    }

    #[test]
    fn constructs_outside_the_grammar_are_named() {
        for line in [
            "a=1 ls",
            "ls $(pwd)",
            "for f in *; do cat $f; done",
            "ls > out",
            "cat <<EOF\nx\nEOF",
            "[[ a == b ]]",
            "ls &",
            "(ls)",
        ] {
            assert!(read(line).is_err(), "{line}: {:?}", read(line));
        }
    }

    #[test]
    fn only_one_command_is_a_single_command() {
        assert!(only_command(&read("ls -a").unwrap()).is_some_and(|words| words.len() == 2));
        assert!(only_command(&read("ls; pwd").unwrap()).is_none());
        assert!(only_command(&read("ls | wc").unwrap()).is_none());
    }
}
