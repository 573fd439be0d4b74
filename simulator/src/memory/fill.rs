//! Fills of up to two dimensions, checked when they are issued and again when they run.

use super::allocation::{AllocationKind, AllocationState};
use super::guest::{self, FillValue};
use super::space::Memory;
use crate::error::{Result, code};

/// A fill with a repeated value of 1, 2 or 4 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fill {
    pub(crate) address: usize,
    pub(crate) pitch: usize,
    pub(crate) value: u32,
    pub(crate) element: usize,
    /// Elements in a row.
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Fill {
    /// Checks the element's size and alignment and that the memory is there.
    pub(crate) fn check(self) -> Result<Self> {
        if !matches!(self.element, 1 | 2 | 4) || !self.address.is_multiple_of(self.element) {
            return Err(code::INVALID_VALUE);
        }
        if self.height > 1
            && (self.pitch < self.width * self.element || !self.pitch.is_multiple_of(self.element))
        {
            return Err(code::INVALID_VALUE);
        }
        if self.span() > 0 && !Memory::global().is_live(self.address, self.span()) {
            return Err(code::INVALID_VALUE);
        }
        Ok(self)
    }

    fn span(&self) -> usize {
        if self.width == 0 || self.height == 0 {
            return 0;
        }
        self.width * self.element + (self.height - 1) * self.pitch
    }

    /// Whether the memory is of a stream-ordered pool.
    pub(crate) fn is_pool_memory(&self) -> bool {
        Memory::global()
            .detail(self.address)
            .is_some_and(|(info, detail)| {
                info.state == AllocationState::Live
                    && matches!(detail.kind, AllocationKind::Pool(_))
            })
    }

    pub(crate) fn execute(&self) -> core::result::Result<(), String> {
        if self.span() == 0 {
            return Ok(());
        }
        if !Memory::global().is_live(self.address, self.span()) {
            return Err(format!(
                "a memset of {} bytes started after {:#x} had been freed",
                self.span(),
                self.address
            ));
        }
        let value = match self.element {
            1 => FillValue::U8(self.value as u8),
            2 => FillValue::U16(self.value as u16),
            _ => FillValue::U32(self.value),
        };
        for y in 0..self.height {
            // SAFETY: all rows were just found inside a live allocation; `check` has made sure of the alignment of address and pitch.
            unsafe { guest::fill(self.address + y * self.pitch, value, self.width) };
        }
        Ok(())
    }
}
