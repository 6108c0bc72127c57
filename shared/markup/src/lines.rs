//! Lines and their indentation, and the output of Markdown lines.

/// How deep blocks are read in each other; what is deeper is taken as text.
pub(crate) const DEEPEST: usize = 40;

/// The longest piece of inline markup in bytes. What is longer is text: else a text of nothing but openings would
/// take time that grows with its square.
pub(crate) const LONGEST: usize = 1000;

/// The start of `text`, of at most `most` bytes.
pub(crate) fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most.min(text.len()))]
}

/// The columns that a line is indented by; `None` for a blank one.
pub(crate) fn indent(line: &str) -> Option<usize> {
    let text = line.trim_start();
    (!text.is_empty()).then(|| line.len() - text.len())
}

/// `lines` without the indentation that all of them have.
pub(crate) fn dedented<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let least = lines.iter().filter_map(|line| indent(line)).min().unwrap_or_default();
    lines.iter().map(|line| line.get(least..).unwrap_or_default()).collect()
}

/// The lines from `start` on that are blank or indented by more than `than` columns, without blank ones at the
/// end; and where they end.
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

/// A text with tabs as the spaces that they stand for, in lines.
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

/// Markdown that is being written, block by block.
#[derive(Default)]
pub(crate) struct Blocks {
    out: String,
}

impl Blocks {
    /// Adds a block, parted from the one before by a blank line.
    pub(crate) fn push(&mut self, block: &str) {
        self.add(block, true);
    }

    /// Adds a block right below the one before where it is not `apart`.
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

    /// Adds what `markdown` says, with `first` before its first line and `rest` before the others.
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
