//! Output lines: the prefixes of quotes and list items, and the blank lines between blocks.

use std::cell::Cell;

/// The maximum number of quotes and list items around a line; deeper ones have no prefix, so that the output stays in
/// proportion to the page.
const MAX_PREFIXES: usize = 24;

/// The separation of a block from the one before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    Line,
    Blank,
}

/// Writes lines, each with the prefix of the containers around it.
#[derive(Default)]
pub(super) struct Lines {
    out: String,
    /// The size of the output after which containers have no prefix.
    limit: Cell<usize>,
    /// The prefix of every line.
    prefix: String,
    /// The prefix of the next line instead: the marker of a list item is on its first line only.
    first: Option<String>,
    /// The gap before the next line, and the length of the prefix that a blank line in it has.
    gap: Option<(Gap, usize)>,
    open: Vec<Open>,
    /// How many open containers have no prefix.
    without_prefix: usize,
}

/// An open container.
struct Open {
    /// The length of the prefix outside it.
    prefix: usize,
    /// The length of what was written before it.
    written: usize,
    /// Whether a blank line stands between blocks right in it.
    spread: bool,
}

/// A container, by the prefix of its lines.
pub(super) enum Container<'m> {
    Quote,
    Item(&'m str),
    /// A footnote with this label.
    Note(&'m str),
}

impl Lines {
    /// For a page of so many bytes: Markdown of real pages is smaller.
    pub(super) fn new(page: usize) -> Self {
        Self { limit: Cell::new(page + (64 << 10)), ..Self::default() }
    }

    /// Raises the limit for an address that is longer than in the page.
    pub(super) fn allow_address(&self, written: &str, source: &str) {
        const MAX_EXCESS: usize = 256;
        let longer = written.len().saturating_sub(source.len()).min(MAX_EXCESS);
        self.limit.set(self.limit.get() + longer);
    }

    /// Whether more was written than the limit.
    pub(super) fn is_long(&self) -> bool {
        self.out.len() > self.limit.get()
    }

    pub(super) fn open(&mut self, container: &Container<'_>) {
        if self.open.len() >= MAX_PREFIXES || self.is_long() {
            self.without_prefix += 1;
            return;
        }
        self.open.push(Open { prefix: self.prefix.len(), written: self.out.len(), spread: false });
        match *container {
            Container::Quote => {
                if let Some(first) = &mut self.first {
                    first.push_str("> ");
                }
                self.prefix.push_str("> ");
            }
            Container::Item(marker) => self.mark(marker, marker.len()),
            Container::Note(label) => self.mark(&format!("[^{label}]: "), 4),
        }
    }

    fn mark(&mut self, marker: &str, indent: usize) {
        self.first.get_or_insert_with(|| self.prefix.clone()).push_str(marker);
        self.prefix.extend(std::iter::repeat_n(' ', indent));
    }

    /// Ends a container; whether blank lines stand between the blocks right in it.
    pub(super) fn close(&mut self) -> bool {
        if self.without_prefix > 0 {
            self.without_prefix -= 1;
            return true;
        }
        let Some(Open { prefix, written, spread }) = self.open.pop() else { return false };
        if self.out.len() == written {
            // An empty container has one line.
            self.line("");
        }
        self.prefix.truncate(prefix);
        self.blank();
        spread
    }

    /// The position in the output.
    pub(super) fn position(&self) -> usize {
        self.out.len()
    }

    /// Puts a blank line at each of `positions`, where lines of the innermost open container end.
    pub(super) fn spread(&mut self, positions: &[usize]) {
        let Some(&first) = positions.first().filter(|_| !self.is_long()) else { return };
        let tail = self.out.split_off(first);
        let blank = self.prefix.trim_end();
        let ends = positions[1..].iter().copied().chain([first + tail.len()]);
        for (&start, end) in positions.iter().zip(ends) {
            self.out.push('\n');
            self.out.push_str(blank);
            self.out.push_str(&tail[start - first..end - first]);
        }
    }

    /// Whether the next line carries an item's marker.
    pub(super) fn at_marker(&self) -> bool {
        self.first.is_some()
    }

    /// Whether nothing was written yet, or a rule at last.
    pub(super) fn is_separated(&self) -> bool {
        self.out.is_empty() || self.out.ends_with("\n\n---")
    }

    /// Separates the next line by a blank line.
    pub(super) fn blank(&mut self) {
        if !self.out.is_empty() {
            self.gap = Some((Gap::Blank, self.prefix.len()));
        }
    }

    /// Lets the next line follow without a blank line.
    pub(super) fn tight(&mut self) {
        if !self.out.is_empty() {
            self.gap = Some((Gap::Line, self.prefix.len()));
        }
    }

    /// Notes a blank line in the container whose lines have a prefix of this length.
    fn mark_spread(&mut self, prefix: usize) {
        let mut inside = self.prefix.len();
        for open in self.open.iter_mut().rev() {
            if inside == prefix {
                open.spread = true;
                return;
            }
            inside = open.prefix;
        }
    }

    /// Writes one line; those of a block follow each other without a gap.
    pub(super) fn line(&mut self, text: &str) {
        if self.gap.is_some() && self.is_long() {
            self.prefix.clear();
            self.first = None;
        }
        match self.gap.take() {
            Some((Gap::Blank, prefix)) => {
                self.out.push('\n');
                let blank = self.prefix.get(..prefix).unwrap_or(&self.prefix).trim_end();
                self.out.push_str(blank);
                self.out.push('\n');
                self.mark_spread(prefix);
            }
            Some((Gap::Line, _)) => self.out.push('\n'),
            None if !self.out.is_empty() => self.out.push('\n'),
            None => {}
        }
        let prefix = self.first.take();
        let prefix = prefix.as_deref().unwrap_or(&self.prefix);
        self.out.push_str(if text.is_empty() { prefix.trim_end() } else { prefix });
        self.out.push_str(text);
    }

    /// Writes a block of lines, a blank line before what follows.
    pub(super) fn block(&mut self, text: &str) {
        for line in text.split('\n') {
            self.line(line);
        }
        self.blank();
    }

    pub(super) fn finish(mut self) -> String {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_prefixes() {
        let mut lines = Lines::new(100);
        lines.open(&Container::Quote);
        lines.open(&Container::Item("1. "));
        lines.block("a\nb");
        lines.block("c");
        assert!(lines.close());
        lines.close();
        lines.block("d");
        assert_eq!(lines.finish(), "> 1. a\n>    b\n>\n>    c\n\nd\n");
    }

    #[test]
    fn an_empty_container_is_a_line() {
        let mut lines = Lines::new(100);
        lines.open(&Container::Item("- "));
        assert!(!lines.close());
        assert_eq!(lines.finish(), "-\n");
    }

    #[test]
    fn deep_containers_have_no_prefix() {
        let mut lines = Lines::new(100);
        for _ in 0..1000 {
            lines.open(&Container::Quote);
        }
        lines.block("a");
        for _ in 0..1000 {
            lines.close();
        }
        lines.block("b");
        assert_eq!(lines.finish(), format!("{}a\n\nb\n", "> ".repeat(MAX_PREFIXES)));
    }
}
