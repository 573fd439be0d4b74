//! Page-locked host memory: allocated, or registered; used again; freed when the device is idle.

use std::alloc::Layout;

use warpsmith_driver::raw;

use crate::context::primary::Context;
use crate::driver_call::{self, call};
use crate::error::{Code, Error, Result};
use crate::gpu::open_device::DeviceState;
use crate::reclaim::{FreeCost, Reclaim};
use crate::trace::work::Work;

const HOST_MEMORY: &str = "the host has not as much memory that can be page-locked: lock less, or copy in parts through a smaller buffer";

/// Whether kernels can reach page-locked memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HostMapping {
    /// Only copies reach it.
    CopiesOnly,
    /// It is in the device's address space.
    Mapped,
    /// That, and past the processor's caches.
    WriteCombined,
}

/// Who allocated page-locked memory, and so how it is freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// The driver, mapped in this way.
    Driver(HostMapping),
    /// Rust's allocator, with this layout; the driver was told of it.
    Registered(Layout),
}

/// Page-locked host memory. It is no owner: whoever has it last gives it to [`DeviceState::retire`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HostBlock {
    pub(crate) host: *mut u8,
    /// The device's address; `None` for memory that only copies reach.
    pub(crate) device: Option<u64>,
    pub(crate) bytes: usize,
    origin: Origin,
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
        let spare = gpu.take_unused(|block: &HostBlock| {
            block.bytes == bytes && block.origin == Origin::Driver(mapping)
        });
        let block = match (spare, mapping) {
            (Some(spare), _) => *spare,
            (None, _) => gpu.traced_on_host(
                || Work::call("cuMemHostAlloc", bytes),
                || match mapping {
                    HostMapping::CopiesOnly => HostBlock::new_for_copies(bytes),
                    _ => HostBlock::new_mapped(gpu, bytes, mapping),
                },
            )?,
        };
        // SAFETY: the block has `bytes` bytes and no other owner: it is new, or `take_unused` found it unused.
        unsafe { block.host.write_bytes(0, bytes) };
        Ok(block)
    }

    fn new_for_copies(bytes: usize) -> Result<HostBlock> {
        // SAFETY: any bytes are valid for the `u8`s that the memory is taken as; `free` gives it back.
        let host = unsafe { cust::memory::cuda_malloc_locked::<u8>(bytes) }.map_err(|error| {
            driver_call::cust_failed("cuMemAllocHost", error)
                .while_doing(|| format!("{bytes} bytes of pinned host memory"))
                .with_hint_for(Code::OUT_OF_MEMORY, || HOST_MEMORY.into())
        })?;
        Ok(HostBlock {
            host,
            device: None,
            bytes,
            origin: Origin::Driver(HostMapping::CopiesOnly),
        })
    }

    fn new_mapped(gpu: &DeviceState, bytes: usize, mapping: HostMapping) -> Result<HostBlock> {
        let mut host = std::ptr::null_mut();
        let mut flags = raw::CU_MEMHOSTALLOC_DEVICEMAP | raw::CU_MEMHOSTALLOC_PORTABLE;
        if mapping == HostMapping::WriteCombined {
            flags |= raw::CU_MEMHOSTALLOC_WRITECOMBINED;
        }
        // SAFETY: the driver writes one address to `host`, which outlives the call.
        unsafe { call!(cuMemHostAlloc(&mut host, bytes, flags)) }.map_err(|error| {
            error
                .while_doing(|| format!("{bytes} bytes of mapped host memory"))
                .with_hint_for(Code::OUT_OF_MEMORY, || HOST_MEMORY.into())
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
            origin: Origin::Driver(mapping),
        })
    }

    /// Tells the driver of memory that Rust's allocator gave, of which `bytes` bytes, at least one, are for the device.
    ///
    /// # Errors
    ///
    /// The driver does not take it: some of it is registered already, say. The memory stays the caller's.
    ///
    /// # Safety
    ///
    /// `host` was allocated with `layout`, whose size is at least `bytes`. When this succeeds the block owns it.
    pub(crate) unsafe fn register(
        gpu: &DeviceState,
        host: *mut u8,
        bytes: usize,
        layout: Layout,
    ) -> Result<HostBlock> {
        gpu.bind()?;
        let flags = raw::CU_MEMHOSTREGISTER_DEVICEMAP | raw::CU_MEMHOSTREGISTER_PORTABLE;
        // SAFETY: the range is allocated by the caller's contract, and nothing frees it before it is unregistered: below, or in `free`.
        unsafe { call!(cuMemHostRegister_v2(host.cast(), bytes, flags)) }.map_err(|error| {
            error.while_doing(|| format!("{bytes} bytes of host memory at {host:p}"))
        })?;
        let mut device = 0;
        // SAFETY: the driver writes one address to `device`, which outlives the call; `host` was registered above, mapped.
        let found = unsafe { call!(cuMemHostGetDevicePointer_v2(&mut device, host.cast(), 0)) };
        if let Err(error) = found {
            // SAFETY: the memory was registered above, and no work knows it.
            gpu.report_drop(unsafe { call!(cuMemHostUnregister(host.cast())) });
            return Err(error);
        }
        Ok(HostBlock {
            host,
            device: Some(device),
            bytes,
            origin: Origin::Registered(layout),
        })
    }

    /// Whether another device than the one that it was made for reaches it at the same address. All page-locked memory is every device's; but
    /// that which was registered, or is not cached, may have another address on each.
    pub(crate) fn is_reached_by(&self, gpu: &DeviceState) -> Result<bool> {
        let Some(device) = self.device else {
            // Copies take the host's address.
            return Ok(true);
        };
        gpu.bind()?;
        let mut there = 0;
        // SAFETY: the driver writes one address to `there`, which outlives the call; whoever has the block keeps the memory.
        unsafe {
            call!(cuMemHostGetDevicePointer_v2(
                &mut there,
                self.host.cast(),
                0
            ))
        }?;
        Ok(there == device)
    }

    /// Has the driver forget registered memory, and answers it with the layout that it was allocated with.
    ///
    /// # Errors
    ///
    /// The block was not registered, or its context is lost: the driver may still know the memory then.
    ///
    /// # Safety
    ///
    /// Nothing on the device uses the memory any more.
    pub(crate) unsafe fn unregister(self) -> Result<(*mut u8, Layout)> {
        let Origin::Registered(layout) = self.origin else {
            return Err(Error::misuse(
                "cuMemHostUnregister",
                Code::HOST_MEMORY_NOT_REGISTERED,
                "the driver allocated this memory",
                "only what `gpu.register` made is unregistered",
            ));
        };
        // SAFETY: `register` told the driver of it, and the caller says that nothing uses it.
        unsafe { call!(cuMemHostUnregister(self.host.cast())) }?;
        Ok((self.host, layout))
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
        match self.origin {
            // SAFETY: `zeroed` got the memory from cuMemAllocHost or cuMemHostAlloc, both freed by cuMemFreeHost; `Reclaim::free` is
            // called when nothing on the device uses it, and its owner gave it away.
            Origin::Driver(_) => unsafe { cust::memory::cuda_free_locked(self.host) }
                .map_err(|error| driver_call::cust_failed("cuMemFreeHost", error)),
            Origin::Registered(_) => {
                // SAFETY: nothing on the device uses it, as above, and the block is its owner.
                let (host, layout) = unsafe { self.unregister() }?;
                // SAFETY: the memory was allocated with this layout (the contract of `register`), and the driver has let go of it.
                unsafe { std::alloc::dealloc(host, layout) };
                Ok(())
            }
        }
    }
}
