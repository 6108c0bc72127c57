//! The syntax tree of a line, and traversals without recursion, because a line may be nested to any depth.

use tree_sitter::{Node, Parser, Tree};

/// Parses a line as Bash. The tree of an invalid line has error nodes; see [`Node::has_error`].
pub(crate) fn parse(line: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    parser.parse(line, None)
}

/// All nodes of the subtree of `top`, including `top`, in the order of the text.
pub(crate) fn nodes(top: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = top.walk();
    let mut next = Some(top);
    std::iter::from_fn(move || {
        let node = next?;
        next = if cursor.goto_first_child() {
            Some(cursor.node())
        } else {
            loop {
                if cursor.goto_next_sibling() {
                    break Some(cursor.node());
                }
                if !cursor.goto_parent() {
                    break None;
                }
            }
        };
        Some(node)
    })
}

/// The children of `node`, in the order of the text.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// The text of `node` in `line`.
pub(crate) fn text<'l>(line: &'l str, node: Node<'_>) -> &'l str {
    line.get(node.byte_range()).unwrap_or_default()
}
