//! Lines and their indentation, and the output of Markdown lines.

/// The maximum nesting depth of blocks; deeper blocks are text.
pub(crate) const MAX_DEPTH: usize = 40;

/// The longest inline markup in bytes; longer markup is text. Without a limit, a text of opening markers alone
/// would take quadratic time.
pub(crate) const MAX_MARKUP: usize = 1000;

/// The first bytes of `text`, at most `most`, cut at a character boundary.
pub(crate) fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most.min(text.len()))]
}

/// The indentation of a line in columns; `None` for a blank line.
pub(crate) fn indent(line: &str) -> Option<usize> {
    // Other white space, such as U+3000, is text: it has more than one byte.
    let text = line.trim_start_matches([' ', '\t']);
    (!line.trim_start().is_empty()).then(|| line.len() - text.len())
}

/// `lines` without their common indentation.
pub(crate) fn dedented<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let least = lines.iter().filter_map(|line| indent(line)).min().unwrap_or_default();
    lines.iter().map(|line| line.get(least..).unwrap_or_default()).collect()
}

/// The lines from `start` on that are blank or indented by more than `than` columns, without blank lines at the
/// end, and the index of the next line.
pub(crate) fn indented<'l, 'a>(lines: &'l [&'a str], start: usize, than: usize) -> (&'l [&'a str], usize) {
    let mut end = start;
    for (at, line) in lines.iter().enumerate().skip(start) {
        match indent(line) {
            None => {}
            Some(columns) if columns > than => end = at + 1,
            Some(_) => break,
        }
    }
    (&lines[start..end.max(start)], end.max(start))
}

/// The lines of `text` with tabs expanded to spaces.
pub(crate) fn expanded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.trim_start_matches('\u{feff}').lines() {
        let mut column = 0;
        for c in line.trim_end().chars() {
            if c == '\t' {
                let spaces = 8 - column % 8;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            } else {
                out.push(c);
                column += 1;
            }
        }
        out.push('\n');
    }
    out
}

/// The Markdown output, block by block.
#[derive(Default)]
pub(crate) struct Blocks {
    out: String,
}

impl Blocks {
    /// Adds a block after a blank line.
    pub(crate) fn push(&mut self, block: &str) {
        self.add(block, true);
    }

    /// Adds a block, after a blank line only if `apart`.
    pub(crate) fn add(&mut self, block: &str, apart: bool) {
        let block = block.trim_end();
        if block.trim().is_empty() {
            return;
        }
        if apart && !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(block);
        self.out.push('\n');
    }

    /// Adds a block of code.
    pub(crate) fn code(&mut self, lines: &[&str], language: &str) {
        let lines = dedented(lines);
        let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(lines.len());
        let text = lines[first..].join("\n");
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
        let fence = "`".repeat(longest.max(2) + 1);
        let language: String = language.chars().take_while(|c| !c.is_whitespace() && *c != '`').collect();
        self.push(&format!("{fence}{language}\n{text}\n{fence}"));
    }

    /// Adds the lines of `markdown`, with `first` before the first line and `rest` before the others.
    pub(crate) fn prefixed(&mut self, first: &str, rest: &str, markdown: &str) {
        self.push(&prefixed(first, rest, markdown));
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }
}

/// `markdown` with `first` before its first line and `rest` before the others that are not blank.
pub(crate) fn prefixed(first: &str, rest: &str, markdown: &str) -> String {
    let mut out = String::new();
    for (at, line) in markdown.trim_end().lines().enumerate() {
        let prefix = if at == 0 { first } else { rest };
        out.push_str(if line.is_empty() { prefix.trim_end() } else { prefix });
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_where_the_indentation_does() {
        let lines = ["item", "  a", "", "    b", "", "next", "  c"];
        assert_eq!(indented(&lines, 1, 0), (&lines[1..4], 4));
        assert_eq!(indented(&lines, 5, 0), (&lines[5..5], 5), "nothing is indented there");
        assert_eq!(dedented(&lines[1..4]), ["a", "", "  b"]);
        assert_eq!((indent("  a"), indent(" \t "), indent("")), (Some(2), None, None));
        // No text is lost where a line begins with a wide space.
        assert_eq!(dedented(&["  a", "\u{3000}潮", "\u{3000}"]), ["  a", "\u{3000}潮", "\u{3000}"]);
    }

    #[test]
    fn tabs_end_at_every_eighth_column() {
        assert_eq!(expanded("\u{feff}a\tb\n\tc  \n1234567\t8\t9"), "a       b\n        c\n1234567 8       9\n");
    }

    #[test]
    fn a_cut_is_at_a_character() {
        assert_eq!((start("潮汐", 4), start("潮汐", 9), start("", 1)), ("潮", "潮汐", ""));
    }

    #[test]
    fn blocks_stand_apart_and_code_is_fenced() {
        let mut blocks = Blocks::default();
        blocks.push("One\n\n");
        blocks.push("  \n");
        blocks.add("- a", true);
        blocks.add("- b", false);
        blocks.code(&["", "  let a = \"```\";", "    b"], "rust ignore");
        blocks.code(&["", " "], "rust");
        blocks.prefixed("1. ", "   ", "x\n\ny\n");
        let expected = "One\n\n- a\n- b\n\n````rust\nlet a = \"```\";\n  b\n````\n\n1. x\n\n   y\n";
        assert_eq!(blocks.finish(), expected);
    }
}
