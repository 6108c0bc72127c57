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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_those_of_the_subtree_in_the_order_of_the_text() {
        let line = "a b | c; d";
        let tree = parse(line).unwrap();
        let names =
            |top| nodes(top).filter(|node| node.kind() == "word").map(|node| text(line, node)).collect::<Vec<_>>();
        assert_eq!(names(tree.root_node()), ["a", "b", "c", "d"]);
        let pipeline = children(tree.root_node())[0];
        // What follows the subtree is not part of it.
        assert_eq!((pipeline.kind(), names(pipeline)), ("pipeline", vec!["a", "b", "c"]));
        assert_eq!(children(pipeline).iter().map(|node| text(line, *node)).collect::<Vec<_>>(), ["a b", "|", "c"]);
        assert_eq!(nodes(nodes(pipeline).last().unwrap()).count(), 1);
    }

    #[test]
    fn a_line_without_a_command_or_that_is_not_closed_has_a_tree() {
        assert_eq!(nodes(parse("").unwrap().root_node()).count(), 1);
        assert!(!parse("a 'ü' b").unwrap().root_node().has_error());
        for line in ["a 'b", "$(", "a | | b", "if", "a \0 '"] {
            assert!(parse(line).unwrap().root_node().has_error(), "{line}");
        }
    }

    #[test]
    fn a_line_of_any_depth_is_traversed() {
        let line = format!("{}a{}", "(".repeat(2_000), ")".repeat(2_000));
        let tree = parse(&line).unwrap();
        assert!(nodes(tree.root_node()).count() > 4_000);
    }
}
