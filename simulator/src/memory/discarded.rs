//! Managed memory whose contents a program has given up (`cuMemDiscardBatchAsync`): what is read there is indeterminate until something writes it.
//!
//! No record is kept of writes: the host's own stores to managed memory are seen by nobody. Instead a discard overwrites each word with one
//! that follows from its address ([`pattern`]), and a word that still holds it has not been written since. So a report is wrong for one value
//! in 2^32, and words that the range has only in part are not followed.

use std::collections::BTreeMap;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::allocation::Use;
use super::guest::{self, WordSize};
use super::space::Memory;
use crate::check::stream_order::Class;
use crate::sync::{read, write};

/// Bytes that are followed together.
const WORD: usize = 4;

/// Words that are written at a time.
const CHUNK: usize = 4096;

/// The ranges, by their first byte, with the byte behind their last. They do not overlap.
static RANGES: RwLock<BTreeMap<usize, usize>> = RwLock::new(BTreeMap::new());

/// Whether there may be any.
static ANY: AtomicBool = AtomicBool::new(false);

/// Ranges that a stream discards, inside of live managed allocations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Discard {
    /// Address and bytes of each.
    ranges: Vec<(usize, usize)>,
}

impl Discard {
    pub(crate) fn new(ranges: Vec<(usize, usize)>) -> Self {
        Self { ranges }
    }

    /// All bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.ranges.iter().map(|&(_, bytes)| bytes).sum()
    }

    /// Tells which bytes it makes others.
    pub(crate) fn touches(&self, mut tell: impl FnMut(Class, u64, u64)) {
        for &(address, bytes) in &self.ranges {
            tell(Class::Write, address as u64, bytes as u64);
        }
    }

    pub(crate) fn execute(&self) -> Result<(), String> {
        for &(address, bytes) in &self.ranges {
            let Some(_held) = Memory::global().hold(address, bytes, Use::Write) else {
                let why = Memory::global().why_not_held(address);
                return Err(format!(
                    "a discard of {bytes} bytes cannot start: {address:#x} {why}"
                ));
            };
            // SAFETY: the range was just found inside a live allocation, which is held.
            unsafe { overwrite(address, bytes) };
            note(address, bytes);
        }
        Ok(())
    }
}

/// What the word at an address, a multiple of its size, holds after a discard.
fn pattern(address: usize) -> u32 {
    let product = (address / WORD) as u64;
    (product.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 ^ 0xdead_d15c
}

/// Writes the pattern.
///
/// # Safety
///
/// The bytes are mapped and writable.
unsafe fn overwrite(address: usize, bytes: usize) {
    let end = address + bytes;
    let mut start = address;
    while start < end {
        let first = start - start % WORD;
        let stop = end.min(first + CHUNK * WORD);
        let words = (first..stop).step_by(WORD);
        let all: Vec<u8> = words.flat_map(|word| pattern(word).to_ne_bytes()).collect();
        // SAFETY: `start..stop` is a part of the caller's range.
        unsafe { guest::write(start, &all[start - first..stop - first]) };
        start = stop;
    }
}

/// Remembers a range.
fn note(address: usize, bytes: usize) {
    let mut ranges = write(&RANGES);
    let (mut start, mut end) = (address, address + bytes);
    let near = ranges.range(..=end).rev();
    let met: Vec<(usize, usize)> = near
        .map(|(&start, &end)| (start, end))
        .take_while(|&(_, other)| other >= start)
        .collect();
    for (other, its_end) in met {
        ranges.remove(&other);
        start = start.min(other);
        end = end.max(its_end);
    }
    ranges.insert(start, end);
    ANY.store(true, Ordering::Release);
}

/// The allocation that held these bytes is no more.
pub(super) fn forget(base: usize, bytes: usize) {
    if are_there() {
        let mut ranges = write(&RANGES);
        ranges.retain(|&start, _| !(base..base + bytes).contains(&start));
        ANY.store(!ranges.is_empty(), Ordering::Release);
    }
}

/// Whether any memory may be indeterminate.
pub(crate) fn are_there() -> bool {
    ANY.load(Ordering::Acquire)
}

/// The first of these bytes, which are readable, that is in a word that was discarded and that nothing has written since.
pub(crate) fn first_unwritten(address: usize, bytes: usize) -> Option<usize> {
    let end = address.checked_add(bytes)?;
    let ranges = read(&RANGES);
    let met = ranges.range(..end).rev();
    let met = met.take_while(|&(_, &stop)| stop > address);
    let mut met: Vec<(usize, usize)> = met.map(|(&start, &stop)| (start, stop)).collect();
    met.reverse();
    let words = met.into_iter().flat_map(|(start, stop)| {
        let first = start.max(address - address % WORD).next_multiple_of(WORD);
        (first..end.min(stop))
            .step_by(WORD)
            .filter(move |word| word + WORD <= stop)
    });
    words
        .into_iter()
        // SAFETY: a word of a range that was discarded, whose allocation is live as the caller reads it; it is aligned.
        .find(|&word| unsafe { guest::load_word(word, WordSize::Four) } == u64::from(pattern(word)))
        .map(|word| word.max(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_unwritten_until_it_is_written() {
        let mut words = vec![0_u32; 1000];
        let base = words.as_mut_ptr().expose_provenance();
        let discard = |from: usize, bytes: usize| {
            // SAFETY: the range lies in `words`, which is not used meanwhile.
            unsafe { overwrite(base + from, bytes) };
            note(base + from, bytes);
        };
        discard(402, 1202);
        discard(2000, 1000);
        assert!(are_there());
        // Words that are discarded in part are not followed.
        assert_eq!(first_unwritten(base, 404), None);
        assert_eq!(first_unwritten(base, 4000), Some(base + 404));
        assert_eq!(first_unwritten(base + 407, 1), Some(base + 407));
        assert_eq!(first_unwritten(base + 1604, 396), None);
        assert_eq!(first_unwritten(base + 1604, 397), Some(base + 2000));
        for word in &mut words[101..401] {
            *word = 7;
        }
        assert_eq!(first_unwritten(base, 4000), Some(base + 2000));
        // A range that meets others takes them in.
        discard(1000, 1500);
        assert_eq!(read(&RANGES).get(&(base + 402)), Some(&(base + 3000)));
        assert_eq!(first_unwritten(base + 404, 596), None);
        assert_eq!(first_unwritten(base + 404, 600), Some(base + 1000));
        forget(base, 4000);
        assert_eq!(first_unwritten(base, 4000), None);
    }

    #[test]
    fn long_ranges_are_overwritten_in_pieces() {
        let mut words = vec![0_u32; CHUNK * 2 + 100];
        let base = words.as_mut_ptr().expose_provenance();
        // SAFETY: the range lies in `words`, which is not used meanwhile.
        unsafe { overwrite(base + 1, CHUNK * 8 + 301) };
        let first = words[0].to_ne_bytes();
        assert_eq!(
            (first[0], &first[1..]),
            (0, &pattern(base).to_ne_bytes()[1..])
        );
        let end = CHUNK * 2 + 75;
        for (index, &word) in words.iter().enumerate().take(end).skip(1) {
            assert_eq!(word, pattern(base + 4 * index), "{index}");
        }
        let partly = words[end].to_ne_bytes();
        assert_eq!(partly[..2], pattern(base + 4 * end).to_ne_bytes()[..2]);
        assert_eq!(partly[2..], [0, 0]);
    }
}
