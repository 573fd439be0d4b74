//! Words of memory that streams wait for and write: checked when the operation is issued, and each time that it is executed.

use super::allocation::{AllocationKind, Use};
use super::guest::{self, WordSize};
use super::pointer::PointerInfo;
use super::space::Memory;
use crate::error::{Result, code};

/// A word that a stream waits for or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    address: usize,
    size: WordSize,
}

impl Word {
    /// A word that a stream waits for.
    pub(crate) fn to_read(address: usize, size: WordSize) -> Result<Self> {
        Self::checked(address, size, Use::Read)
    }

    /// A word that a stream writes.
    pub(crate) fn to_write(address: usize, size: WordSize) -> Result<Self> {
        Self::checked(address, size, Use::Write)
    }

    /// Refuses an address that is not aligned, where no memory is, or managed memory, which streams do not wait for.
    fn checked(address: usize, size: WordSize, how: Use) -> Result<Self> {
        let word = Self { address, size };
        let known = PointerInfo::of(address).ok_or(code::INVALID_VALUE)?;
        if !address.is_multiple_of(word.bytes())
            || known.kind == AllocationKind::Managed
            || !Memory::global().allows(address, word.bytes(), how)
        {
            return Err(code::INVALID_VALUE);
        }
        Ok(word)
    }

    /// The address.
    pub(crate) fn address(self) -> usize {
        self.address
    }

    /// The size in bytes.
    pub(crate) fn bytes(self) -> usize {
        match self.size {
            WordSize::Four => 4,
            WordSize::Eight => 8,
        }
    }

    /// The value; `None` where the memory has been freed or unmapped.
    pub(crate) fn load(self) -> Option<u64> {
        let _held = Memory::global().hold(self.address, self.bytes(), Use::Read)?;
        // SAFETY: the memory was just found live and is held; `checked` has made sure of the alignment.
        Some(unsafe { guest::load_word(self.address, self.size) })
    }

    /// Writes the value; `None` where the memory has been freed or unmapped.
    pub(crate) fn store(self, value: u64) -> Option<()> {
        let _held = Memory::global().hold(self.address, self.bytes(), Use::Write)?;
        // SAFETY: the memory was just found live and is held; `checked` has made sure of the alignment.
        unsafe { guest::store_word(self.address, self.size, value) };
        Some(())
    }
}
