//! Words of a text as hashes.
//!
//! The features compare 64-bit hashes of words within one page. The linear model uses 32-bit hashes;
//! `training/vocabulary.py` computes them in the same way.

/// The words of a text, runs of letters and digits: the hash of the characters of each, in lower case.
pub(super) fn words<H: Copy>(text: &str, start: H, mix: impl Fn(H, char) -> H) -> impl Iterator<Item = H> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let mut word = None;
        while let Some(&b) = text.as_bytes().get(at) {
            let hash = word.unwrap_or(start);
            if b.is_ascii() {
                at += 1;
                if b.is_ascii_alphanumeric() {
                    word = Some(mix(hash, char::from(b.to_ascii_lowercase())));
                } else if word.is_some() {
                    break;
                }
            } else {
                let c = text[at..].chars().next()?;
                at += c.len_utf8();
                if c.is_alphanumeric() {
                    word = Some(c.to_lowercase().fold(hash, &mix));
                } else if word.is_some() {
                    break;
                }
            }
        }
        word
    })
}

/// The offset basis of the 32-bit FNV-1a hash.
pub(super) const START: u32 = 0x811C_9DC5;

/// One step of the 32-bit FNV-1a hash.
pub(super) fn hashed(hash: u32, c: u32) -> u32 {
    (hash ^ c).wrapping_mul(0x0100_0193)
}

/// The finalizer of `MurmurHash3`, so that every bit of a hash depends on every bit of what is hashed.
pub(super) fn mixed(mut hash: u32) -> u32 {
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xC2B2_AE35);
    hash ^ (hash >> 16)
}

/// The hashes of the pairs of a text's first words.
pub(super) fn pairs(text: &str, most: usize) -> impl Iterator<Item = u64> {
    let words = hashes(text).take(most);
    words.scan(None, |before, word| Some(before.replace(word).map(|before| paired(before, word)))).flatten()
}

pub(super) fn paired(first: u64, second: u64) -> u64 {
    first ^ second.rotate_left(21)
}

/// The hashes of a text's words.
pub(super) fn hashes(text: &str) -> impl Iterator<Item = u64> {
    words(text, 7, |hash: u64, c| (hash ^ u64::from(c)).wrapping_mul(0x0100_0000_01B3))
}

/// The hashes of the words that a text begins with.
pub(super) fn words_of(text: &str) -> Vec<u64> {
    hashes(text).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_digits_in_lower_case() {
        let hash = |text: &str| hashes(text).collect::<Vec<_>>();
        assert_eq!(hash("High-water, 3.5 ÉTÉ"), hash("high water 3 5 été"));
        assert!(hash(" ,.- ").is_empty());
        assert_ne!(hash("ab"), hash("ba"));
        assert_eq!(words_of(&"a ".repeat(100)).len(), 64);
    }

    #[test]
    fn pairs_are_of_neighbours_in_order() {
        let pairs = |text: &str| pairs(text, 10).collect::<Vec<_>>();
        assert_eq!(pairs("a b c").len(), 2);
        assert_eq!(pairs("a b c")[1], pairs("b c")[0]);
        assert_ne!(pairs("a b"), pairs("b a"));
        assert!(pairs("a").is_empty());
    }

    #[test]
    fn every_bit_of_a_hash_depends_on_every_bit() {
        assert_eq!(mixed(0), 0);
        let changed = (0..32).map(|bit| (mixed(1) ^ mixed(1 ^ (1 << bit))).count_ones());
        assert!(changed.clone().min() > Some(5) && changed.max() < Some(27));
    }
}
