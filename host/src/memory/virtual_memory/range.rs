//! Reserved addresses, and what is mapped into them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use warpsmith_driver::raw;

use super::access::{MappingAccess, device_location};
use crate::context::primary::Context;
use crate::driver_call::call;
use crate::error::Result;
use crate::gpu::open_device::DeviceState;
use crate::reclaim::{FreeCost, Reclaim};
use crate::sync::lock;

/// Reserved addresses. It is no owner: whoever has it last gives it to [`DeviceState::retire`].
#[derive(Debug)]
pub(crate) struct AddressRange {
    pub(crate) base: u64,
    pub(crate) bytes: usize,
    /// What is mapped, in the order of its addresses, without gaps from the start.
    chunks: Mutex<Vec<Chunk>>,
    /// Whether the device may only load from some of it.
    is_read_only: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
struct Chunk {
    start: u64,
    bytes: usize,
}

impl AddressRange {
    /// Reserves `bytes` addresses, a multiple of the granularity. No memory is taken.
    ///
    /// # Errors
    ///
    /// The device has no virtual memory management, or there are not so many addresses left.
    pub(crate) fn reserve(gpu: &DeviceState, bytes: usize) -> Result<AddressRange> {
        gpu.limits().require_virtual_memory()?;
        gpu.bind()?;
        let mut base = 0;
        // SAFETY: the driver writes one address to `base`, which outlives the call.
        unsafe { call!(cuMemAddressReserve(&mut base, bytes, 0, 0, 0)) }
            .map_err(|error| error.while_doing(|| format!("reserving {bytes} addresses")))?;
        Ok(AddressRange {
            base,
            bytes,
            chunks: Mutex::default(),
            is_read_only: AtomicBool::new(false),
        })
    }

    /// Whether the device may only load from some of it.
    pub(crate) fn is_read_only(&self) -> bool {
        self.is_read_only.load(Ordering::Relaxed)
    }

    /// Bytes that are mapped.
    pub(crate) fn mapped(&self) -> usize {
        lock(&self.chunks).iter().map(|chunk| chunk.bytes).sum()
    }

    /// Maps all of an allocation behind what is mapped, and lets the device access it.
    ///
    /// # Errors
    ///
    /// There is not so much room left; or the driver refuses, and nothing has changed.
    pub(crate) fn append(
        &self,
        gpu: &DeviceState,
        handle: raw::CUmemGenericAllocationHandle,
        bytes: usize,
        access: MappingAccess,
    ) -> Result<()> {
        gpu.bind()?;
        let mut chunks = lock(&self.chunks);
        let start = chunks
            .last()
            .map_or(self.base, |last| last.start + last.bytes as u64);
        // SAFETY: the addresses are this range's, which nobody else maps into; the driver checks the handle.
        unsafe { call!(cuMemMap(start, bytes, 0, handle, 0)) }.map_err(|error| {
            error.while_doing(|| {
                format!(
                    "mapping {bytes} bytes at {start:#x}: all of the memory is mapped, neither less nor more;"
                )
            })
        })?;
        let chunk = Chunk { start, bytes };
        let device = raw::CUmemAccessDesc {
            location: device_location(gpu.context().device),
            flags: access.flags(),
        };
        // SAFETY: the chunk was mapped above, and the driver reads one description from `device`, which outlives the call.
        let granted = unsafe { call!(cuMemSetAccess(start, bytes, &device, 1)) };
        if let Err(error) = granted {
            gpu.report_drop(chunk.unmap());
            return Err(error);
        }
        chunks.push(chunk);
        if access == MappingAccess::Read {
            self.is_read_only.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Unmaps all chunks from the one that begins at or behind byte `keep` on. Nothing uses them.
    pub(crate) fn unmap_from(&self, gpu: &DeviceState, keep: usize) -> Result<()> {
        gpu.bind()?;
        let mut chunks = lock(&self.chunks);
        while let Some(last) = chunks.pop_if(|last| last.start >= self.base + keep as u64) {
            if let Err(error) = last.unmap() {
                chunks.push(last);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Unmaps everything and gives the addresses back.
    fn release(&self) -> Result<()> {
        for chunk in lock(&self.chunks).drain(..) {
            chunk.unmap()?;
        }
        // SAFETY: `reserve` reserved the addresses, into which nothing is mapped any more; nothing uses them by the contract of `free`.
        unsafe { call!(cuMemAddressFree(self.base, self.bytes)) }
    }
}

impl Chunk {
    fn unmap(self) -> Result<()> {
        // SAFETY: `append` mapped exactly this, and the callers say that nothing uses it.
        unsafe { call!(cuMemUnmap(self.start, self.bytes)) }
    }
}

/// A range that waits to be given back.
pub(crate) struct UnusedRange(pub(crate) std::sync::Arc<AddressRange>);

impl Reclaim for UnusedRange {
    fn bytes(&self) -> usize {
        self.0.mapped()
    }

    fn free_cost(&self) -> FreeCost {
        FreeCost::None
    }

    fn free(self: Box<Self>, _context: &Context) -> Result<()> {
        self.0.release()
    }
}
