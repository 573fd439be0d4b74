//! Page-locked host memory: allocated, used again, freed when the device is idle.

use warpsmith_driver::raw;

use crate::context::primary::Context;
use crate::driver_call::{self, call};
use crate::error::Result;
use crate::gpu::open_device::DeviceState;
use crate::reclaim::{FreeCost, Reclaim};

/// Whether kernels can reach page-locked memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HostMapping {
    /// Only copies reach it.
    CopiesOnly,
    /// It is in the device's address space.
    Mapped,
}

/// Page-locked host memory. It is no owner: whoever has it last gives it to [`DeviceState::retire`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HostBlock {
    pub(crate) host: *mut u8,
    /// The device's address; `None` for memory that only copies reach.
    pub(crate) device: Option<u64>,
    pub(crate) bytes: usize,
}

// SAFETY: the block is addresses and a size, which own nothing. Who reaches the memory says why it may; any thread may free it.
unsafe impl Send for HostBlock {}
// SAFETY: a shared reference gives copies of the addresses, for which the reason given for `Send` holds.
unsafe impl Sync for HostBlock {}

impl HostBlock {
    /// Zeroed memory, of the same size from what waits to be freed if there is some.
    ///
    /// # Errors
    ///
    /// The driver has no more.
    pub(crate) fn zeroed(
        gpu: &DeviceState,
        bytes: usize,
        mapping: HostMapping,
    ) -> Result<HostBlock> {
        gpu.bind()?;
        let spare =
            gpu.take_unused(|block: &HostBlock| block.bytes == bytes && block.mapping() == mapping);
        let block = match (spare, mapping) {
            (Some(spare), _) => *spare,
            (None, HostMapping::Mapped) => HostBlock::new_mapped(gpu, bytes)?,
            (None, HostMapping::CopiesOnly) => HostBlock::new_for_copies(bytes)?,
        };
        // SAFETY: the block has `bytes` bytes and no other owner: it is new, or `take_unused` found it unused.
        unsafe { block.host.write_bytes(0, bytes) };
        Ok(block)
    }

    fn mapping(&self) -> HostMapping {
        match self.device {
            None => HostMapping::CopiesOnly,
            Some(_) => HostMapping::Mapped,
        }
    }

    fn new_for_copies(bytes: usize) -> Result<HostBlock> {
        // SAFETY: any bytes are valid for the `u8`s that the memory is taken as; `free` gives it back.
        let host = unsafe { cust::memory::cuda_malloc_locked::<u8>(bytes) }.map_err(|error| {
            driver_call::cust_failed("cuMemAllocHost", error)
                .while_doing(|| format!("{bytes} bytes of pinned host memory"))
        })?;
        Ok(HostBlock {
            host,
            device: None,
            bytes,
        })
    }

    fn new_mapped(gpu: &DeviceState, bytes: usize) -> Result<HostBlock> {
        let mut host = std::ptr::null_mut();
        let flags = raw::CU_MEMHOSTALLOC_DEVICEMAP | raw::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: the driver writes one address to `host`, which outlives the call.
        unsafe { call!(cuMemHostAlloc(&mut host, bytes, flags)) }.map_err(|error| {
            error.while_doing(|| format!("{bytes} bytes of mapped host memory"))
        })?;
        let mut device = 0;
        // SAFETY: the driver writes one address to `device`, which outlives the call; `host` was allocated above, mapped.
        if let Err(error) = unsafe { call!(cuMemHostGetDevicePointer_v2(&mut device, host, 0)) } {
            // SAFETY: the memory was allocated above, and its address has not left this function.
            gpu.report_drop(unsafe { call!(cuMemFreeHost(host)) });
            return Err(error);
        }
        Ok(HostBlock {
            host: host.cast(),
            device: Some(device),
            bytes,
        })
    }
}

impl Reclaim for HostBlock {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn free_cost(&self) -> FreeCost {
        FreeCost::WaitsForIdleDevice
    }

    fn free(self: Box<Self>, _context: &Context) -> Result<()> {
        // SAFETY: `zeroed` got the memory from cuMemAllocHost or cuMemHostAlloc, both freed by cuMemFreeHost; `Reclaim::free` is called
        // when nothing on the device uses it, and its owner gave it away.
        unsafe { cust::memory::cuda_free_locked(self.host) }
            .map_err(|error| driver_call::cust_failed("cuMemFreeHost", error))
    }
}
