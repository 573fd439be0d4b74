//! Fills of up to two dimensions, checked when they are issued and again when they run.

use super::allocation::{AllocationKind, Use};
use super::extent::{Extent, Layout, product};
use super::guest::{self, FillValue};
use super::pointer::PointerInfo;
use super::pool;
use super::refusal;
use super::space::Memory;
use super::transfer::WORD;
use crate::check::stream_order::Class;
use crate::error::{Result, code};

/// What a report calls the memory that is filled.
const DESTINATION: &str = "its destination";

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

/// A fill whose memory was there when it was issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedFill {
    asked: Fill,
    extent: Extent,
    layout: Layout,
    /// Whose memory it is; `None` for the host's, managed and mapped memory.
    device: Option<usize>,
}

impl Fill {
    /// Checks the element's size and alignment and that the memory is there.
    pub(crate) fn check(self) -> Result<CheckedFill> {
        if !matches!(self.element, 1 | 2 | 4) || !self.address.is_multiple_of(self.element) {
            return Err(code::INVALID_VALUE);
        }
        let row = product(&[self.width, self.element]).ok_or(code::INVALID_VALUE)?;
        if self.height > 1 && (self.pitch < row || !self.pitch.is_multiple_of(self.element)) {
            return Err(code::INVALID_VALUE);
        }
        let extent = Extent::new(row, self.height, 1)?;
        let layout = Layout::new(self.address, [0; 3], [self.pitch, 0], &extent)?;
        if !extent.is_empty() && !Memory::global().allows(self.address, layout.span(), Use::Write) {
            refusal::tell(
                &described(&extent),
                DESTINATION,
                self.address,
                layout.span(),
                Use::Write,
            );
            return Err(code::INVALID_VALUE);
        }
        let device = Memory::global()
            .find(self.address)
            .and_then(|info| info.device);
        Ok(CheckedFill {
            device,
            asked: self,
            extent,
            layout,
        })
    }

    /// Whether the host reads the memory without a copy: page-locked or managed memory.
    pub(crate) fn is_host_visible(&self) -> bool {
        matches!(
            self.kind(),
            Some(AllocationKind::Pinned(_) | AllocationKind::Managed)
        )
    }

    /// What the memory is, if it is allocated or registered.
    fn kind(&self) -> Option<AllocationKind> {
        PointerInfo::of(self.address).map(|known| known.kind)
    }
}

fn described(extent: &Extent) -> String {
    format!("a memset of {} bytes", extent.bytes())
}

impl CheckedFill {
    /// Refuses, as measured, to fill memory of a pool of the host that the device may not access.
    ///
    /// # Errors
    ///
    /// Invalid value.
    pub(crate) fn refuse_inaccessible(&self, device: usize) -> Result {
        let address = self.asked.address;
        match pool::of_host_memory(address) {
            Some(pool) if !self.extent.is_empty() && !pool.is_accessible(device) => {
                refusal::tell_of_no_access(&described(&self.extent), DESTINATION, address, device);
                Err(code::INVALID_VALUE)
            }
            _ => Ok(()),
        }
    }

    /// Whether it may set a flag.
    pub(crate) fn is_of_word(&self) -> bool {
        self.bytes() <= WORD
    }

    /// How many bytes are filled.
    pub(crate) fn bytes(&self) -> usize {
        self.extent.bytes()
    }

    /// Tells which bytes it writes.
    pub(crate) fn touches(&self, mut tell: impl FnMut(Class, u64, u64)) {
        let class = match self.is_of_word() {
            true => Class::WordWrite,
            false => Class::Write,
        };
        if !self.extent.is_empty() && Memory::global().contains(self.asked.address) {
            for y in 0..self.extent.height() {
                tell(
                    class,
                    self.layout.start(y, 0) as u64,
                    self.extent.width() as u64,
                );
            }
        }
    }

    /// The device whose memory it is, if one's: what an update of a graph may not change.
    pub(crate) fn device(&self) -> Option<usize> {
        self.device
    }

    /// What was asked for.
    pub(crate) fn asked(&self) -> &Fill {
        &self.asked
    }

    pub(crate) fn execute(&self) -> core::result::Result<(), String> {
        let Fill {
            address,
            value,
            element,
            width,
            ..
        } = self.asked;
        if self.extent.is_empty() {
            return Ok(());
        }
        let span = self.layout.span();
        let Some(_held) = Memory::global().hold(address, span, Use::Write) else {
            let why = Memory::global().why_not_held(address);
            return Err(format!(
                "a memset of {span} bytes cannot start: {address:#x} {why}"
            ));
        };
        let value = match element {
            1 => FillValue::U8(value as u8),
            2 => FillValue::U16(value as u16),
            _ => FillValue::U32(value),
        };
        for y in 0..self.extent.height() {
            // SAFETY: all rows were just found inside a live allocation, which is held; `check` has made sure of the alignment of address and pitch.
            unsafe { guest::fill(self.layout.start(y, 0), value, width) };
        }
        Ok(())
    }
}
