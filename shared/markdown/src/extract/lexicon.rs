//! Word lists, searched by hash.
//!
//! The hash table is built at compile time, so a program does not build it at start.

/// Lists of words in a text: one list a line, its label and a colon before its words.
pub(super) struct Lexicon<const SLOTS: usize> {
    text: &'static [u8],
    /// Open addressing: each word of each list in the slot of its hash, or in the next free one.
    slots: [Slot; SLOTS],
    lists: usize,
}

/// The list of a word, counted from one, and where the word is in the text.
#[derive(Clone, Copy)]
struct Slot {
    list: u8,
    start: u16,
    end: u16,
}

impl<const SLOTS: usize> Lexicon<SLOTS> {
    /// The lists of a text; to be called in a constant.
    pub(super) const fn new(text: &'static str) -> Self {
        let text = text.as_bytes();
        let mut lexicon = Self { text, slots: [Slot { list: 0, start: 0, end: 0 }; SLOTS], lists: 0 };
        let (mut at, mut start) = (0, 0);
        while at < text.len() {
            match text[at] {
                b':' => lexicon.lists += 1,
                b' ' | b'\n' if at > start && text[at - 1] != b':' => lexicon.insert(start, at),
                _ => {}
            }
            if matches!(text[at], b' ' | b'\n') {
                start = at + 1;
            }
            at += 1;
        }
        lexicon
    }

    const fn insert(&mut self, start: usize, end: usize) {
        let mut hash = Hash::START;
        let mut at = start;
        while at < end {
            hash = hash.with(self.text[at]);
            at += 1;
        }
        let mut slot = hash.slot(SLOTS);
        while self.slots[slot].list > 0 {
            slot = (slot + 1) % SLOTS;
        }
        self.slots[slot] = Slot { list: self.lists as u8, start: start as u16, end: end as u16 };
    }

    /// How many lists there are.
    pub(super) const fn lists(&self) -> usize {
        self.lists
    }

    /// The lists that a word is in, one bit each.
    pub(super) fn lists_of(&self, word: &[u8]) -> u64 {
        let mut found = 0;
        let mut slot = word.iter().fold(Hash::START, |hash, &b| hash.with(b)).slot(SLOTS);
        while let Slot { list: list @ 1.., start, end } = self.slots[slot] {
            found |= u64::from(&self.text[usize::from(start)..usize::from(end)] == word) << (list - 1);
            slot = (slot + 1) % SLOTS;
        }
        found
    }
}

/// The hash of FNV-1a, begun at zero.
#[derive(Clone, Copy)]
struct Hash(u32);

impl Hash {
    const START: Self = Self(0);

    const fn with(self, byte: u8) -> Self {
        Self((self.0 ^ byte as u32).wrapping_mul(0x0100_0193))
    }

    const fn slot(self, slots: usize) -> usize {
        (self.0 >> 16) as usize % slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_in_all_of_its_lists() {
        static TIDES: Lexicon<8> = Lexicon::new("high: flood full both\nlow: ebb both\n");
        assert_eq!(TIDES.lists(), 2);
        for (word, lists) in [("flood", 1), ("full", 1), ("ebb", 2), ("both", 3), ("high", 0), ("low", 0), ("", 0)] {
            assert_eq!(TIDES.lists_of(word.as_bytes()), lists, "{word}");
        }
    }
}
