//! Which bytes of an array something has written: one bit for each.

use std::sync::Mutex;

use crate::sync::lock;

/// The bytes that have been written.
pub(super) struct Written {
    /// Zeros from the system, which take no memory before the first write near them. `None` where others write, too: all may have been
    /// written then.
    words: Option<Mutex<Vec<u64>>>,
}

/// The bits of a word that stand for bytes of a range, with the word's index.
fn words(first: usize, count: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = first + count;
    (first / 64..end.div_ceil(64)).map(move |word| {
        let from = first.saturating_sub(word * 64);
        let to = (end - word * 64).min(64);
        (word, (u64::MAX >> (64 - (to - from))) << from)
    })
}

impl Written {
    /// None of so many.
    pub(super) fn nothing_of(bytes: usize) -> Self {
        Self {
            words: Some(Mutex::new(vec![0; bytes.div_ceil(64)])),
        }
    }

    /// All of memory that others write without a word of it.
    pub(super) fn by_others() -> Self {
        Self { words: None }
    }

    /// Bytes from `first` on have been written.
    pub(super) fn insert(&self, first: usize, count: usize) {
        let Some(mut all) = self.words.as_ref().map(lock) else {
            return;
        };
        for (word, bits) in words(first, count) {
            all[word] |= bits;
        }
    }

    /// Which of the bytes from `first` on have been written.
    pub(super) fn bits(&self, first: usize, count: usize) -> Vec<bool> {
        let Some(all) = self.words.as_ref().map(lock) else {
            return vec![true; count];
        };
        (first..first + count)
            .map(|byte| all[byte / 64] >> (byte % 64) & 1 != 0)
            .collect()
    }

    /// Makes the bytes from `first` on as written as others are.
    pub(super) fn assign(&self, first: usize, written: &[bool]) {
        let Some(mut all) = self.words.as_ref().map(lock) else {
            return;
        };
        for (byte, &is_written) in (first..).zip(written) {
            let bit = 1 << (byte % 64);
            match is_written {
                true => all[byte / 64] |= bit,
                false => all[byte / 64] &= !bit,
            }
        }
    }

    /// The first of the bytes from `first` on that has not been written, counted from there.
    pub(super) fn first_missing(&self, first: usize, count: usize) -> Option<usize> {
        let all = self.words.as_ref().map(lock)?;
        words(first, count).find_map(|(word, bits)| {
            let missing = bits & !all[word];
            (missing != 0).then(|| word * 64 + missing.trailing_zeros() as usize - first)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_may_begin_and_end_anywhere() {
        for (first, count) in [(0, 1), (0, 64), (63, 2), (5, 200), (64, 64), (130, 61)] {
            let written = Written::nothing_of(256);
            assert_eq!(written.first_missing(first, count), Some(0));
            written.insert(first, count);
            assert_eq!(written.first_missing(first, count), None);
            let bits = written.bits(0, 256);
            for (byte, &is_written) in bits.iter().enumerate() {
                let inside = (first..first + count).contains(&byte);
                assert_eq!(is_written, inside, "{byte} of {first} and {count}");
            }
            assert_eq!(
                written.first_missing(first, 256 - first),
                (first + count < 256).then_some(count)
            );
        }
    }

    #[test]
    fn what_others_write_misses_nothing() {
        let (from, to) = (Written::by_others(), Written::nothing_of(100));
        from.insert(10, 5);
        from.assign(0, &[false; 100]);
        assert_eq!(from.first_missing(0, 100), None);
        to.assign(20, &from.bits(20, 30));
        assert_eq!(to.first_missing(20, 80), Some(30));
    }

    #[test]
    fn what_is_copied_is_as_written_as_its_source() {
        let (from, to) = (Written::nothing_of(100), Written::nothing_of(100));
        from.insert(10, 5);
        to.insert(0, 100);
        to.assign(50, &from.bits(8, 10));
        assert_eq!(to.first_missing(0, 100), Some(50));
        assert_eq!(to.first_missing(52, 48), Some(5));
    }
}
