//! The blocks of the documentation's pages, and how each of them is tested.
//!
//! The commands of a page are run in the order of the page, in one project: those of `sh` and `python` blocks must
//! succeed, those of `console` blocks print what the page shows. Comments directly before a block change this:
//!
//! | comment | meaning |
//! |---|---|
//! | `<!-- not run: REASON -->` | the block cannot be run by a test |
//! | `<!-- run by: FILE -->` | another test runs it, in this file of the repository |
//! | `<!-- runs until it is stopped -->` | a server: it prints its `url`, and is then stopped |
//! | `<!-- before: COMMAND -->` | prepares what the block needs |
//! | `<!-- after: COMMAND -->` | checks what the block did |

mod run;

pub use run::Reader;

use crate::examples::{closes, opened};

/// A fenced block of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The line of its fence, from 1.
    pub line: usize,
    /// Its language; empty if it has none.
    pub language: String,
    /// Its lines.
    pub text: String,
    /// How it is tested.
    pub test: BlockTest,
    /// Commands to run before it.
    pub before: Vec<String>,
    /// Commands to run after it.
    pub after: Vec<String>,
}

/// How a block is tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockTest {
    /// Its commands are run to their end.
    Run,
    /// Its command is run until it has printed its `url`.
    Server,
    /// It is run by the test in this file of the repository.
    By(String),
    /// It is not run, for this reason.
    Not(String),
}

impl Block {
    /// Whether it consists of commands.
    pub fn has_commands(&self) -> bool {
        ["sh", "python", "console"].contains(&self.language.as_str())
    }
}

/// The blocks of a Markdown document, or the comment that has no meaning.
///
/// # Errors
///
/// If a comment before a block begins like one of the table and has another form.
pub fn blocks(markdown: &str) -> Result<Vec<Block>, String> {
    let mut found = vec![];
    let mut comments: Vec<&str> = vec![];
    let mut lines = markdown.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if let Some(comment) = line.trim().strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->")) {
            comments.push(comment.trim());
            continue;
        }
        if let Some((fence, language)) = opened(line) {
            let text: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| !closes(line, fence)).collect();
            let mut block = Block {
                line: at + 1,
                language: language.to_owned(),
                text: text.join("\n"),
                test: BlockTest::Run,
                before: vec![],
                after: vec![],
            };
            for comment in &comments {
                marked(&mut block, comment).map_err(|reason| format!("line {}: {reason}", at + 1))?;
            }
            found.push(block);
        }
        comments.clear();
    }
    Ok(found)
}

/// Applies a comment to the block after it.
fn marked(block: &mut Block, comment: &str) -> Result<(), String> {
    match comment.split_once(": ") {
        Some(("not run", reason)) => block.test = BlockTest::Not(reason.to_owned()),
        Some(("run by", file)) => block.test = BlockTest::By(file.to_owned()),
        Some(("before", command)) => block.before.push(command.to_owned()),
        Some(("after", command)) => block.after.push(command.to_owned()),
        _ if comment == "runs until it is stopped" => block.test = BlockTest::Server,
        _ => return Err(format!("no comment of a block has this form: {comment}")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_the_comments_before_it() {
        let page = "<!-- cargo xtask docs: x -->\n\n| a |\n\n<!-- before: touch a -->\n<!-- after: test -e b -->\n\
                    ```sh\ncp a b\n```\n<!-- not run: needs sudo -->\n```sh\nsudo x\n```\n\
                    <!-- run by: tests/a.rs -->\n~~~console\n$ y\n~~~\n<!-- runs until it is stopped -->\n```sh\nz\n```\n\
                    <!-- before: no block follows -->\ntext\n```json\n{}\n```\n";
        let found = blocks(page).unwrap();
        let seen: Vec<_> =
            found.iter().map(|block| (block.line, block.language.as_str(), block.text.as_str(), &block.test)).collect();
        let by = BlockTest::By("tests/a.rs".to_owned());
        let not = BlockTest::Not("needs sudo".to_owned());
        let expected = [
            (7, "sh", "cp a b", &BlockTest::Run),
            (11, "sh", "sudo x", &not),
            (15, "console", "$ y", &by),
            (19, "sh", "z", &BlockTest::Server),
            (24, "json", "{}", &BlockTest::Run),
        ];
        assert_eq!(seen, expected);
        assert_eq!(
            (&found[0].before[..], &found[0].after[..]),
            (&["touch a".to_owned()][..], &["test -e b".to_owned()][..])
        );
        assert!(found[1..].iter().all(|block| block.before.is_empty() && block.after.is_empty()));
    }

    #[test]
    fn a_comment_without_a_meaning_is_an_error() {
        assert!(blocks("<!-- skipped -->\n```sh\nx\n```\n").unwrap_err().contains("skipped"));
        assert!(blocks("<!-- skipped -->\n\ntext\n").unwrap().is_empty());
    }
}
