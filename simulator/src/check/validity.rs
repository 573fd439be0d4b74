//! Which bytes of shared memory are initialised.

use super::access::Access;
use super::byte_set::{ByteSet, ones, steps};
use super::pattern::Pattern;

/// The initialised bytes of a cluster's shared memory.
#[derive(Debug)]
pub(super) struct Validity {
    initialised: ByteSet,
}

impl Validity {
    pub fn new(bytes: u32) -> Validity {
        Validity {
            initialised: ByteSet::new(bytes),
        }
    }

    /// No byte is initialised any more.
    pub fn clear(&mut self) {
        self.initialised.clear();
    }

    /// Marks up to 32 bytes as initialised.
    #[inline]
    pub fn initialise(&mut self, offset: u32, size: u32) {
        self.initialised.insert(offset, size);
    }

    /// Up to 32 bytes are uninitialised again.
    pub fn spoil(&mut self, offset: u32, size: u32) {
        self.initialised.remove(offset, size);
    }

    /// Marks any number of bytes as initialised.
    pub fn initialise_range(&mut self, offset: u32, bytes: u32) {
        steps(offset, bytes).for_each(|(start, size)| self.initialised.insert(start, size));
    }

    /// Marks the bytes of all lanes as initialised.
    #[inline]
    pub fn initialise_all(&mut self, access: &Access<'_>, pattern: Pattern) {
        self.initialised.insert_all(access, pattern);
    }

    /// Whether all bytes of all lanes are initialised.
    #[inline]
    pub fn covers(&self, access: &Access<'_>, pattern: Pattern) -> bool {
        self.initialised.contains_all(access, pattern)
    }

    /// The first uninitialised unit of any number of bytes.
    pub fn first_uninitialised_of(&self, offset: u32, bytes: u32) -> Option<u32> {
        steps(offset, bytes).find_map(|(start, size)| self.first_uninitialised(start, size))
    }

    /// The first unit (a word, or the whole of a narrower access) none of whose bytes is initialised. A word that is in part
    /// passes: compilers copy padding.
    #[inline]
    pub fn first_uninitialised(&self, offset: u32, size: u32) -> Option<u32> {
        let initialised = self.initialised.from(offset) & ones(size);
        if initialised == ones(size) {
            return None;
        }
        let unit = size.clamp(1, 4);
        (0..size)
            .step_by(unit as usize)
            .find(|at| initialised >> at & ones(unit) == 0)
            .map(|at| offset + at)
    }
}
