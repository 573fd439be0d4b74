//! Many arrays in one block of device memory.

use bytemuck::Pod;

use super::size::{ALIGNMENT, bytes_of};
use super::slice::DeviceSliceMut;
use super::view::RawView;
use crate::error::{Code, Error, LimitError, Result};
use crate::order::access::ViewScope;

/// Cuts one block of device memory into arrays of any types, so that many small ones cost one allocation.
///
/// Each begins at a multiple of 256 bytes, as if it had been allocated by itself, or of what [`take_aligned`](Self::take_aligned) is told,
/// and at least of its elements' alignment: a word that is read or written in one instruction must lie at a multiple of its size (CUDA C++
/// Programming Guide, "Device Memory Accesses"). The arrays hold the block's bytes, whatever they are; they live no longer than the block,
/// and streams use each of them independently of the others.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::Arena;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut block = stream.zeroed::<u8>(4096)?;
/// let mut arena = Arena::new(block.slice_mut(..));
/// let mut flags = arena.take::<u8>(3)?;
/// let mut sums = arena.take::<f64>(100)?;
/// stream.fill(&mut flags, 1)?;
/// stream.fill(&mut sums, 0.5)?;
/// assert_eq!(stream.download(&flags)?, [1; 3]);
/// assert_eq!(stream.download(&sums)?, [0.5; 100]);
/// assert!(arena.take::<f64>(1000).is_err(), "more than is left");
/// # Ok(())
/// # }
/// ```
// covers: MEM-16
pub struct Arena<'a> {
    block: RawView<'a>,
    used: usize,
}

impl<'a> Arena<'a> {
    /// An arena of this memory.
    pub fn new(block: DeviceSliceMut<'a, u8>) -> Arena<'a> {
        let view = block.view();
        if let Some(allocation) = view.allocation {
            allocation.split();
        }
        Arena {
            block: RawView {
                scope: ViewScope::Shared,
                ..view
            },
            used: 0,
        }
    }

    /// Bytes that nothing was cut from yet.
    pub fn remaining(&self) -> usize {
        self.block.bytes - self.used
    }

    /// The next `len` elements, at a multiple of 256 bytes.
    ///
    /// # Errors
    ///
    /// Not enough is left; the arena stays as it is.
    pub fn take<T: Pod>(&mut self, len: usize) -> Result<DeviceSliceMut<'a, T>> {
        self.take_aligned(len, ALIGNMENT)
    }

    /// The next `len` elements, at a multiple of `alignment` bytes and of what the elements ask for.
    ///
    /// # Errors
    ///
    /// Not enough is left, or `alignment` is no power of two; the arena stays as it is.
    pub fn take_aligned<T: Pod>(
        &mut self,
        len: usize,
        alignment: usize,
    ) -> Result<DeviceSliceMut<'a, T>> {
        const CALL: &str = "Arena::take";
        let bytes = bytes_of::<T>(CALL, len)?;
        if !alignment.is_power_of_two() {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                format!("{alignment} is no alignment"),
                "an alignment is a power of two",
            ));
        }
        let alignment = alignment.max(align_of::<T>()) as u64;
        let at = self.block.address + self.used as u64;
        let gap = at.next_multiple_of(alignment) - at;
        let needed = bytes.saturating_add(gap as usize);
        if needed > self.remaining() {
            return Err(Error::Limit(Box::new(LimitError {
                call: CALL,
                code: Code::OUT_OF_MEMORY,
                subject: format!("[{}; {len}]", std::any::type_name::<T>()),
                what: "the number of bytes, with those before its alignment,",
                value: needed as u64,
                limit: self.remaining() as u64,
                hint: "begin with a larger block; what was taken is free again when a new arena is made of the block".into(),
            })));
        }
        self.used += needed;
        let part = RawView {
            address: at + gap,
            bytes,
            len,
            ..self.block
        };
        Ok(DeviceSliceMut::of(part, ..))
    }
}

impl std::fmt::Debug for Arena<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Arena({} of {} bytes left)",
            self.remaining(),
            self.block.bytes
        )
    }
}
