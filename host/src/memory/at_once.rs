//! Memory that the driver gives at once, in no stream's order: page-locked, managed, exportable, opened.

use std::sync::Arc;

use warpsmith_driver::raw;

use super::allocation::{Allocation, HostAllocation};
use super::host_block::{HostBlock, HostMapping};
use super::released::MemoryKind;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::OpenDevice;
use crate::trace::track::Track;
use crate::trace::work::Work;

impl Allocation {
    /// Page-locked host memory, zeroed.
    // covers: PINNED-01, PINNED-05
    pub(crate) fn page_locked(
        gpu: &Gpu,
        bytes: usize,
        mapping: HostMapping,
    ) -> Result<HostAllocation> {
        let block = HostBlock::zeroed(&gpu.inner, bytes, mapping)?;
        Ok(Allocation::of_block(&gpu.inner, block))
    }

    /// Managed memory, zeroed by the device.
    // covers: UM-05
    pub(crate) fn managed(gpu: &Gpu, bytes: usize) -> Result<HostAllocation> {
        let memory = Allocation::managed_uninit(gpu, bytes)?;
        Allocation::zero(&gpu.inner, memory.allocation.base(), bytes)?;
        // The wait makes the zeros visible to all streams and to the host.
        gpu.inner.context().wait_for_service_stream()?;
        Ok(memory)
    }

    /// Managed memory that nobody has touched. Uninitialised.
    pub(super) fn managed_uninit(gpu: &Gpu, bytes: usize) -> Result<HostAllocation> {
        let gpu = &gpu.inner;
        if !gpu.limits().managed {
            return Err(Error::unsupported(
                "unified memory",
                "a device with managed memory",
            ));
        }
        gpu.bind()?;
        gpu.reclaim();
        let mut base = 0;
        gpu.traced_on_host(
            || Work::call("cuMemAllocManaged", bytes),
            // SAFETY: the driver writes one address to `base`, which outlives the call.
            || unsafe {
                call!(cuMemAllocManaged(
                    &mut base,
                    bytes,
                    raw::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0
                ))
            },
        )
        .map_err(|error| error.while_doing(|| format!("{bytes} bytes of unified memory")))?;
        let allocation = Allocation::new(gpu, base, bytes, MemoryKind::Managed);
        if !gpu.limits().concurrent_managed {
            gpu.order().launch_gate.require_host_access_check();
        }
        Ok(HostAllocation {
            allocation,
            pointer: base as *mut u8,
        })
    }

    /// Enqueues zeros for memory that was just allocated with so many bytes, in this crate's own stream.
    fn zero(gpu: &OpenDevice, base: u64, bytes: usize) -> Result<()> {
        gpu.traced(
            || Some(Track::service(gpu.context())),
            || Work::call("cuMemsetD8Async", bytes),
            // SAFETY: the memory was allocated with `bytes` bytes, and its address has not left the caller.
            || unsafe { call!(cuMemsetD8Async(base, 0, bytes, gpu.service_stream().raw())) },
        )
    }

    /// Device memory that other processes may open, zeroed.
    pub(super) fn exportable(gpu: &Arc<OpenDevice>, bytes: usize) -> Result<Arc<Allocation>> {
        gpu.bind()?;
        gpu.reclaim();
        let mut base = 0;
        gpu.traced_on_host(
            || Work::call("cuMemAlloc", bytes),
            // SAFETY: the driver writes one address to `base`, which outlives the call.
            || unsafe { call!(cuMemAlloc_v2(&mut base, bytes)) },
        )
        .map_err(|error| error.while_doing(|| format!("{bytes} bytes")))?;
        let allocation = Allocation::new(gpu, base, bytes, MemoryKind::Exportable);
        Allocation::zero(gpu, base, bytes)?;
        gpu.context().wait_for_service_stream()?;
        Ok(allocation)
    }

    /// Device memory of another process.
    pub(super) fn opened(
        gpu: &Arc<OpenDevice>,
        handle: raw::CUipcMemHandle,
    ) -> Result<Arc<Allocation>> {
        /// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`, the only flag, which must be set.
        const LAZY_ENABLE_PEER_ACCESS: u32 = 1;
        gpu.bind()?;
        gpu.reclaim();
        let mut base = 0;
        // SAFETY: the driver writes one address to `base`, which outlives the call; it looks at any bytes of a handle.
        unsafe {
            call!(cuIpcOpenMemHandle_v2(
                &mut base,
                handle,
                LAZY_ENABLE_PEER_ACCESS
            ))
        }
        .map_err(|error| {
            let (what, hint) = match error.code() {
                Some(Code::INVALID_CONTEXT) => (
                    "memory of this very process",
                    "use the buffer that was exported",
                ),
                Some(Code::NOT_PERMITTED) => (
                    "its owner has freed it or has ended",
                    "have the owner keep the buffer until it is told that this process is done",
                ),
                _ => (
                    "memory of another process",
                    "give what `DeviceBuffer::export_handle` made there, of a buffer that is alive",
                ),
            };
            error.while_doing(|| what.into()).with_hint(|| hint.into())
        })?;
        let mut bytes = 0;
        // SAFETY: the driver writes one number to `bytes`, which outlives the call; nothing asks for the base.
        let asked = unsafe {
            call!(cuMemGetAddressRange_v2(
                std::ptr::null_mut(),
                &mut bytes,
                base
            ))
        };
        let allocation = Allocation::new(gpu, base, bytes, MemoryKind::Opened);
        asked.map(|()| allocation)
    }
}
