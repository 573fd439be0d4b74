//! Reserved addresses, and what is mapped into them.

use std::any::Any;
use std::panic::RefUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use warpsmith_driver::raw;

use super::access::{MappingAccess, device_location};
use crate::context::primary::Context;
use crate::driver_call::call;
use crate::error::{Code, Result};
use crate::gpu::open_device::DeviceState;
use crate::reclaim::{FreeCost, Reclaim};
use crate::sync::lock;

/// Reserved addresses. It is no owner: whoever has it last gives it to [`DeviceState::retire`].
#[derive(Debug)]
pub(crate) struct AddressRange {
    pub(crate) base: u64,
    pub(crate) bytes: usize,
    mapped: Mutex<Mapped>,
    /// Whether the device may only load from some of it.
    is_read_only: AtomicBool,
    /// See [`keep`](Self::keep).
    kept: OnceLock<Arc<dyn Any + Send + Sync>>,
}

/// The rest has locks; what is kept is dropped alone.
impl RefUnwindSafe for AddressRange {}

#[derive(Debug, Default)]
struct Mapped {
    /// What is mapped, in the order of its addresses, without gaps from the start.
    chunks: Vec<Chunk>,
    /// The devices besides the memory's own that access what is mapped, and what will be.
    peers: Vec<raw::CUdevice>,
}

#[derive(Clone, Copy, Debug)]
struct Chunk {
    start: u64,
    bytes: usize,
    access: MappingAccess,
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
        unsafe { call!(cuMemAddressReserve(&mut base, bytes, 0, 0, 0)) }.map_err(|error| {
            error
                .while_doing(|| format!("reserving {bytes} addresses"))
                .with_hint_for(Code::OUT_OF_MEMORY, || {
                    "reserve fewer, or drop what has addresses reserved".into()
                })
        })?;
        Ok(AddressRange {
            base,
            bytes,
            mapped: Mutex::default(),
            is_read_only: AtomicBool::new(false),
            kept: OnceLock::new(),
        })
    }

    /// Maps memory once, without access, and unmaps it: whether it has this size.
    ///
    /// # Errors
    ///
    /// The driver refuses: the size is another, or no addresses are left.
    pub(super) fn try_mapping(
        gpu: &DeviceState,
        handle: raw::CUmemGenericAllocationHandle,
        bytes: usize,
    ) -> Result<()> {
        let range = AddressRange::reserve(gpu, bytes)?;
        // SAFETY: the addresses are this range's, which nobody else maps into; the driver checks the handle.
        let mapped = unsafe { call!(cuMemMap(range.base, bytes, 0, handle, 0)) }.and_then(|()| {
            // SAFETY: `cuMemMap` has just mapped the memory at the range's start, and no device was given access to it.
            unsafe { call!(cuMemUnmap(range.base, bytes)) }
        });
        let released = range.release();
        mapped.and(released)
    }

    /// Whether the device may only load from some of it.
    pub(crate) fn is_read_only(&self) -> bool {
        self.is_read_only.load(Ordering::Relaxed)
    }

    /// Bytes that are mapped.
    pub(crate) fn mapped(&self) -> usize {
        lock(&self.mapped)
            .chunks
            .iter()
            .map(|chunk| chunk.bytes)
            .sum()
    }

    /// Maps all of an allocation behind what is mapped, and lets the device access it, and those that were let access the rest.
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
        let Mapped { chunks, peers } = &mut *lock(&self.mapped);
        let start = chunks
            .last()
            .map_or(self.base, |last| last.start + last.bytes as u64);
        // SAFETY: the addresses are this range's, which nobody else maps into; the driver checks the handle.
        unsafe { call!(cuMemMap(start, bytes, 0, handle, 0)) }.map_err(|error| {
            error.while_doing(|| format!("mapping {bytes} bytes at {start:#x}"))
        })?;
        let chunk = Chunk {
            start,
            bytes,
            access,
        };
        let own = gpu.context().device;
        let devices: Vec<_> = peers.iter().copied().chain([own]).collect();
        let granted = chunk.set_access(&devices, access.flags());
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

    /// Keeps something until the range has been released: what work reaches through what is mapped. The first one counts.
    pub(crate) fn keep(&self, what: Arc<dyn Any + Send + Sync>) {
        let _ = self.kept.set(what);
    }

    /// Unmaps all chunks from the one that begins at or behind byte `keep` on. Nothing uses them.
    pub(crate) fn unmap_from(&self, gpu: &DeviceState, keep: usize) -> Result<()> {
        gpu.bind()?;
        let chunks = &mut lock(&self.mapped).chunks;
        while let Some(last) = chunks.pop_if(|last| last.start >= self.base + keep as u64) {
            if let Err(error) = last.unmap() {
                chunks.push(last);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Lets another device access what is mapped, and what will be, as the memory's own does.
    ///
    /// # Errors
    ///
    /// The driver refuses, and nothing has changed.
    pub(crate) fn allow(&self, peer: raw::CUdevice) -> Result<()> {
        let Mapped { chunks, peers } = &mut *lock(&self.mapped);
        for (done, chunk) in chunks.iter().enumerate() {
            if let Err(error) = chunk.set_access(&[peer], chunk.access.flags()) {
                // What fails again leaves the device with an access that nobody uses.
                let _ = forbid(&chunks[..done], peer);
                return Err(error);
            }
        }
        peers.push(peer);
        Ok(())
    }

    /// Takes that back. The device does not access the memory any more.
    pub(crate) fn forbid(&self, peer: raw::CUdevice) -> Result<()> {
        let Mapped { chunks, peers } = &mut *lock(&self.mapped);
        peers.retain(|&known| known != peer);
        forbid(chunks, peer)
    }

    /// Unmaps everything and gives the addresses back.
    fn release(&self) -> Result<()> {
        for chunk in lock(&self.mapped).chunks.drain(..) {
            chunk.unmap()?;
        }
        // SAFETY: `reserve` reserved the addresses, into which nothing is mapped any more; nothing uses them by the contract of `free`.
        unsafe { call!(cuMemAddressFree(self.base, self.bytes)) }
    }
}

/// Takes a device's access to these chunks back.
fn forbid(chunks: &[Chunk], device: raw::CUdevice) -> Result<()> {
    let none = raw::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
    let mut chunks = chunks.iter();
    chunks.try_for_each(|chunk| chunk.set_access(&[device], none))
}

impl Chunk {
    /// Sets what these devices may do with the chunk.
    fn set_access(&self, devices: &[raw::CUdevice], flags: raw::CUmemAccess_flags) -> Result<()> {
        let describe = |&device: &raw::CUdevice| raw::CUmemAccessDesc {
            location: device_location(device),
            flags,
        };
        let descriptions: Vec<_> = devices.iter().map(describe).collect();
        // SAFETY: the chunk is mapped, and the driver reads as many descriptions, which outlive the call.
        unsafe {
            call!(cuMemSetAccess(
                self.start,
                self.bytes,
                descriptions.as_ptr(),
                descriptions.len()
            ))
        }
    }

    fn unmap(self) -> Result<()> {
        // SAFETY: `append` mapped exactly this, and the callers say that nothing uses it.
        unsafe { call!(cuMemUnmap(self.start, self.bytes)) }
    }
}

/// A range that waits to be given back.
pub(crate) struct UnusedRange(pub(crate) Arc<AddressRange>);

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
