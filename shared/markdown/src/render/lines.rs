//! Lines out: the prefixes of quotes and list items, and the space between blocks.

use std::cell::Cell;

/// The most quotes and list items around a line; deeper ones lose their mark, so that the size of
/// the output stays in proportion to the page's.
const MAX_PREFIXES: usize = 24;

/// How a block stands off the one before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    Line,
    Blank,
}

/// Writes lines, each with the prefix of the containers around it.
#[derive(Default)]
pub(super) struct Lines {
    out: String,
    /// How much may be written before containers lose their marks.
    most: Cell<usize>,
    /// What every line begins with here.
    prefix: String,
    /// What the next line begins with instead: a list item's marker is on its first line only.
    first: Option<String>,
    /// The gap before the next line, and the length of the prefix that a blank line in it has.
    gap: Option<(Gap, usize)>,
    open: Vec<Open>,
    /// Containers that were opened too deep to be shown.
    unshown: usize,
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

/// What a container puts before its lines.
pub(super) enum Container<'m> {
    Quote,
    Item(&'m str),
    /// A footnote with this label.
    Note(&'m str),
}

impl Lines {
    /// For a page of so many bytes: Markdown of any sense takes less.
    pub(super) fn new(page: usize) -> Self {
        Self { most: Cell::new(page + (64 << 10)), ..Self::default() }
    }

    /// Allows for an address that is longer than the page has it.
    pub(super) fn allow_address(&self, written: &str, source: &str) {
        const MOST: usize = 256;
        let longer = written.len().saturating_sub(source.len()).min(MOST);
        self.most.set(self.most.get() + longer);
    }

    /// Whether more was written than Markdown of any sense takes.
    pub(super) fn is_long(&self) -> bool {
        self.out.len() > self.most.get()
    }

    pub(super) fn open(&mut self, container: &Container<'_>) {
        if self.open.len() >= MAX_PREFIXES || self.is_long() {
            self.unshown += 1;
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
        if self.unshown > 0 {
            self.unshown -= 1;
            return true;
        }
        let Some(Open { prefix, written, spread }) = self.open.pop() else { return false };
        if self.out.len() == written {
            // Nothing was written inside: what is empty still is there.
            self.line("");
        }
        self.prefix.truncate(prefix);
        self.blank();
        spread
    }

    /// Where what is written next begins.
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

    /// What is written next begins after a blank line.
    pub(super) fn blank(&mut self) {
        if !self.out.is_empty() {
            self.gap = Some((Gap::Blank, self.prefix.len()));
        }
    }

    /// What is written next begins on the next line.
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
