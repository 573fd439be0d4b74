//! Sets of bytes of shared memory: one bit for each.

use super::access::Access;
use super::pattern::{Pattern, RUN_LANES, RunPattern};

/// A set of bytes.
#[derive(Debug)]
pub(super) struct ByteSet {
    bits: Vec<u8>,
}

/// Bytes that one step works on at most.
pub(super) const STEP: u32 = 32;

impl ByteSet {
    /// None of so many.
    pub fn new(bytes: u32) -> ByteSet {
        // A step works on eight bytes of bits from that of its first one.
        ByteSet {
            bits: vec![0; bytes.div_ceil(8) as usize + 8],
        }
    }

    /// Takes all out.
    pub fn clear(&mut self) {
        self.bits.fill(0);
    }

    /// The bits from a byte on, at least 57.
    #[inline(always)]
    pub fn from(&self, offset: u32) -> u64 {
        let first = (offset / 8) as usize;
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.bits[first..first + 8]);
        u64::from_le_bytes(bytes) >> (offset % 8)
    }

    #[inline(always)]
    fn change(&mut self, offset: u32, change: impl FnOnce(u64) -> u64) {
        let first = (offset / 8) as usize;
        let place = &mut self.bits[first..first + 8];
        let mut bytes = [0; 8];
        bytes.copy_from_slice(place);
        place.copy_from_slice(&change(u64::from_le_bytes(bytes)).to_le_bytes());
    }

    /// Puts up to 32 bytes in.
    #[inline(always)]
    pub fn insert(&mut self, offset: u32, size: u32) {
        self.change(offset, |bits| bits | ones(size) << (offset % 8));
    }

    /// Takes up to 32 bytes out.
    pub fn remove(&mut self, offset: u32, size: u32) {
        self.change(offset, |bits| bits & !(ones(size) << (offset % 8)));
    }

    /// Whether up to 32 bytes are in it.
    #[inline(always)]
    fn contains(&self, offset: u32, size: u32) -> bool {
        !self.from(offset) & ones(size) == 0
    }

    /// The first of any number of bytes that is in it.
    pub fn first_in(&self, offset: u32, bytes: u32) -> Option<u32> {
        steps(offset, bytes).find_map(|(start, size)| {
            let found = self.from(start) & ones(size);
            (found != 0).then(|| start + found.trailing_zeros())
        })
    }

    /// Puts the bytes of all lanes in.
    #[inline]
    pub fn insert_all(&mut self, access: &Access<'_>, pattern: Pattern) {
        pieces(access, pattern, |offset, size| self.insert(offset, size));
    }

    /// Whether all bytes of all lanes are in it.
    #[inline]
    pub fn contains_all(&self, access: &Access<'_>, pattern: Pattern) -> bool {
        let mut contains = true;
        pieces(access, pattern, |offset, size| {
            contains &= self.contains(offset, size);
        });
        contains
    }

    /// Whether any byte of any lane is in it.
    #[inline]
    pub fn touches(&self, access: &Access<'_>, pattern: Pattern) -> bool {
        let mut touched = 0;
        pieces(access, pattern, |offset, size| {
            touched |= self.from(offset) & ones(size);
        });
        touched != 0
    }
}

/// Any number of bytes, in steps of up to 32.
pub(super) fn steps(offset: u32, bytes: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..bytes)
        .step_by(STEP as usize)
        .map(move |at| (offset + at, (bytes - at).min(STEP)))
}

/// The bytes of all lanes, in pieces of up to 32.
#[inline(always)]
fn pieces(access: &Access<'_>, pattern: Pattern, mut each: impl FnMut(u32, u32)) {
    let size = access.size;
    let mut run = |start, lanes: usize| {
        // 8 or 32 lanes are a multiple of 8 bytes; most often they are a multiple of a step.
        let bytes = lanes as u32 * size;
        (0..bytes)
            .step_by(STEP as usize)
            .for_each(|at| each(start + at, (bytes - at).min(STEP)));
    };
    match pattern {
        Pattern::Consecutive => run(access.offsets[0], 32),
        Pattern::Same => run(access.offsets[0], 1),
        Pattern::Runs(runs) => {
            for (pattern, offsets) in runs.into_iter().zip(access.offsets.chunks_exact(RUN_LANES)) {
                match pattern {
                    RunPattern::Consecutive => run(offsets[0], RUN_LANES),
                    RunPattern::Same => run(offsets[0], 1),
                }
            }
        }
        Pattern::Scattered => {
            let mut rest = access.mask;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                each(access.offsets[lane], size);
            }
        }
    }
}

/// So many bits from the lowest on.
#[inline(always)]
pub(super) fn ones(count: u32) -> u64 {
    (1 << count) - 1
}
