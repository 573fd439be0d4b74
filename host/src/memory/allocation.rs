//! A piece of memory that the device can reach, whatever its kind, with what is known about its uses.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::context::{GpuInner, attention, lock};
use crate::driver_call::{self, call};
use crate::error::{Busy, Code, Error, Result};
use crate::gpu::Gpu;
use crate::order::uses::{Access, Attached, NOBODY, Place, Uses};
use crate::reclaim::{HostBlock, Remains};
use crate::stream::host_function;
use crate::stream::{Stream, StreamInner};
use warpsmith_driver::raw;

/// Where memory comes from and so how it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// From the device's default pool: freed in stream order.
    Pool,
    /// Pinned host memory that only copies reach, or that is mapped into the device's address space.
    Pinned(HostBlock),
    /// Managed memory.
    Managed,
}

pub(crate) struct Allocation {
    pub(crate) gpu: Arc<GpuInner>,
    /// The address on the device; for pinned memory that is not mapped, on the host.
    pub(crate) base: u64,
    pub(crate) bytes: usize,
    kind: Kind,
    /// See [`super::uses`].
    owner: AtomicU64,
    uses: Mutex<Uses>,
    /// Host accesses that are open. Only graphs ask: everything else is kept out by the borrow.
    pub(crate) host_accesses: AtomicU32,
}

// SAFETY: the memory behind the addresses is reached only through the checks of this module.
unsafe impl Send for Allocation {}
// SAFETY: as above; the fields are behind atomics and locks.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// Device memory, usable in `stream` from here on and by others after it. Uninitialised.
    // covers: POOL-02, POOL-09, POOL-12
    pub(crate) fn in_stream(stream: &Stream, bytes: usize) -> Result<Arc<Allocation>> {
        let gpu = &stream.inner.gpu;
        gpu.bind()?;
        if !gpu.limits.pools {
            return Err(Error::unsupported(
                "memory in stream order",
                "a driver since CUDA 11.2 and a device with memory pools",
            ));
        }
        let mut base = 0;
        // SAFETY: the result outlives the call; the stream is alive.
        unsafe { call!(cuMemAllocAsync(&mut base, bytes, stream.inner.raw)) }
            .map_err(|error| error.while_doing(|| format!("{bytes} bytes")))?;
        let allocation = Allocation::new(gpu, base, bytes, Kind::Pool);
        lock(&allocation.uses).order(&allocation.owner, &stream.inner, Access::EVERYTHING, true)?;
        Ok(Arc::new(allocation))
    }

    /// Pinned host memory, zeroed.
    // covers: PINNED-01
    pub(crate) fn pinned(gpu: &Gpu, bytes: usize) -> Result<(Arc<Allocation>, *mut u8)> {
        let block = host_memory(&gpu.inner, bytes, false)?;
        let allocation = Allocation::new(&gpu.inner, block.host as u64, bytes, Kind::Pinned(block));
        Ok((Arc::new(allocation), block.host))
    }

    /// Pinned host memory in the device's address space, zeroed.
    // covers: PINNED-05
    pub(crate) fn mapped(gpu: &Gpu, bytes: usize) -> Result<(Arc<Allocation>, *mut u8)> {
        let block = host_memory(&gpu.inner, bytes, true)?;
        let allocation = Allocation::new(&gpu.inner, block.device, bytes, Kind::Pinned(block));
        Ok((Arc::new(allocation), block.host))
    }

    /// Managed memory, zeroed by the device.
    // covers: UM-05
    pub(crate) fn managed(gpu: &Gpu, bytes: usize) -> Result<(Arc<Allocation>, *mut u8)> {
        if !gpu.inner.limits.managed {
            return Err(Error::unsupported(
                "unified memory",
                "a device with managed memory",
            ));
        }
        gpu.inner.bind()?;
        gpu.inner.reclaim();
        let mut base = 0;
        // SAFETY: the result outlives the call.
        unsafe {
            call!(cuMemAllocManaged(
                &mut base,
                bytes,
                raw::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0
            ))
        }
        .map_err(|error| error.while_doing(|| format!("{bytes} bytes of unified memory")))?;
        let allocation = Arc::new(Allocation::new(&gpu.inner, base, bytes, Kind::Managed));
        if !gpu.inner.limits.concurrent_managed {
            gpu.inner
                .attention
                .fetch_or(attention::UNSHARED, Ordering::AcqRel);
        }
        // SAFETY: `bytes` fresh bytes; the wait makes the zeros visible to everybody, also where the host may not touch it yet.
        unsafe {
            call!(cuMemsetD8Async(base, 0, bytes, gpu.inner.errands))?;
            call!(cuStreamSynchronize(gpu.inner.errands))?;
        }
        Ok((allocation, base as *mut u8))
    }

    fn new(gpu: &Arc<GpuInner>, base: u64, bytes: usize, kind: Kind) -> Allocation {
        Allocation {
            gpu: gpu.clone(),
            base,
            bytes,
            kind,
            owner: AtomicU64::new(NOBODY),
            uses: Mutex::new(Uses::default()),
            host_accesses: AtomicU32::new(0),
        }
    }

    /// The fast path: every use so far was in the stream that goes by this number now.
    #[inline]
    pub(crate) fn is_in(&self, number: u64) -> bool {
        self.owner.load(Ordering::Relaxed) == number
    }

    /// Puts a use in order. The caller holds the order lock until the work is enqueued.
    pub(crate) fn order(
        self: &Arc<Self>,
        stream: &Arc<StreamInner>,
        access: Access,
        whole: bool,
    ) -> Result<()> {
        if let Some(capture) = stream.capture() {
            return capture.order(self, stream, access);
        }
        lock(&self.uses).order(&self.owner, stream, access, whole)
    }

    /// Restricts managed memory on a device that cannot share it. The caller holds the order lock.
    pub(crate) fn attach(&self, attached: Attached) {
        lock(&self.uses).attached = attached;
        self.owner.store(NOBODY, Ordering::Release);
    }

    /// Whether only one stream, or none, can be using it now on a device that cannot share managed memory.
    pub(crate) fn attached(&self) -> Attached {
        lock(&self.uses).attached
    }

    pub(crate) fn is_pinned(&self) -> bool {
        matches!(self.kind, Kind::Pinned(block) if block.host as u64 == self.base)
    }

    pub(crate) fn is_managed(&self) -> bool {
        self.kind == Kind::Managed
    }

    /// From here on views of parts are used independently of each other.
    pub(crate) fn split(&self) {
        let _order = self.gpu.order();
        // An error means that the context is lost; what was noted is right all the same, if coarse.
        let _ = lock(&self.uses).fix();
        self.owner.store(NOBODY, Ordering::Release);
    }

    /// From here on a graph may use it at any time. The caller holds the order lock.
    pub(crate) fn join_graph(&self) {
        lock(&self.uses).in_graphs = true;
        self.owner.store(NOBODY, Ordering::Release);
    }

    /// Refuses while the device may use the memory; `write` asks for exclusive use. The caller holds the order lock.
    // covers: UM-06, PINNED-06
    pub(crate) fn check_host_access(&self, call: &'static str, write: bool) -> Result<()> {
        let mut uses = lock(&self.uses);
        if !write && !uses.entries.writes() {
            return Ok(());
        }
        for place in uses.entries.places() {
            if !place.is_done()? {
                return Err(Error::Busy(Box::new(Busy {
                    call,
                    reason: "the device may still be using this memory".into(),
                    hint: "wait first: `stream.synchronize()`, `event.synchronize()` or `gpu.synchronize()`",
                })));
            }
        }
        if write {
            uses.entries.clear();
            self.owner.store(NOBODY, Ordering::Release);
        }
        Ok(())
    }

    /// The stream that a use in `stream` of memory of another device would break.
    pub(crate) fn check_gpu(&self, call: &'static str, stream: &StreamInner) -> Result<()> {
        if Arc::ptr_eq(&self.gpu, &stream.gpu) {
            Ok(())
        } else {
            Err(wrong_gpu(call))
        }
    }
}

#[cold]
pub(crate) fn wrong_gpu(call: &'static str) -> Error {
    Error::misuse(
        call,
        Code::INVALID_CONTEXT,
        "the stream, the kernel and the memory are not all of one device",
        "make them from the same `Gpu`",
    )
}

/// Zeroed page-locked host memory, if `mapped` in the device's address space.
pub(crate) fn host_memory(gpu: &GpuInner, bytes: usize, mapped: bool) -> Result<HostBlock> {
    gpu.bind()?;
    gpu.adopt_orphans();
    let block = match gpu.spare_host_memory(bytes, mapped) {
        Some(spare) => spare,
        None if mapped => new_mapped(gpu, bytes)?,
        None => {
            // SAFETY: freed by the allocation's destructor; zeroed before anybody sees it.
            let host =
                unsafe { cust::memory::cuda_malloc_locked::<u8>(bytes) }.map_err(|error| {
                    driver_call::cust_failed("cuMemAllocHost", error)
                        .while_doing(|| format!("{bytes} bytes of pinned host memory"))
                })?;
            HostBlock {
                host,
                device: 0,
                bytes,
            }
        }
    };
    // SAFETY: `bytes` bytes that nobody else has.
    unsafe { block.host.write_bytes(0, bytes) };
    Ok(block)
}

fn new_mapped(gpu: &GpuInner, bytes: usize) -> Result<HostBlock> {
    let mut host = std::ptr::null_mut();
    let flags = raw::CU_MEMHOSTALLOC_DEVICEMAP | raw::CU_MEMHOSTALLOC_PORTABLE;
    // SAFETY: the result outlives the call.
    unsafe { call!(cuMemHostAlloc(&mut host, bytes, flags)) }
        .map_err(|error| error.while_doing(|| format!("{bytes} bytes of mapped host memory")))?;
    let mut device = 0;
    // SAFETY: just allocated with the flag that this asks for.
    if let Err(error) = unsafe { call!(cuMemHostGetDevicePointer_v2(&mut device, host, 0)) } {
        // SAFETY: nobody has seen it.
        gpu.report_drop(unsafe { call!(cuMemFreeHost(host)) });
        return Err(error);
    }
    Ok(HostBlock {
        host: host.cast(),
        device,
        bytes,
    })
}

/// What is left of an allocation when nobody has it any more: how it goes, and after which streams.
pub(crate) struct Orphan {
    base: u64,
    bytes: usize,
    kind: Kind,
    places: Vec<Place>,
}

// SAFETY: the memory belongs to whoever frees it, on any thread.
unsafe impl Send for Orphan {}

impl Drop for Allocation {
    fn drop(&mut self) {
        let places = lock(&self.uses).entries.places();
        let orphan = Orphan {
            base: self.base,
            bytes: self.bytes,
            kind: self.kind,
            places,
        };
        if host_function::is_running() {
            // A host function's captured buffer: this thread may not call the driver.
            lock(&self.gpu.orphans).push(orphan);
        } else {
            orphan.free(&self.gpu);
        }
    }
}

impl Orphan {
    fn free(self, gpu: &GpuInner) {
        match self.kind {
            Kind::Pool => gpu.report_drop(self.free_in_order(gpu)),
            Kind::Pinned(block) => gpu.retire(Remains::Host(block), &self.places),
            Kind::Managed => gpu.retire(Remains::Managed(self.base, self.bytes), &self.places),
        }
    }

    /// Frees in the stream that used the memory; where there were several, in a stream of our own that waits for them.
    // covers: POOL-04, POOL-07
    fn free_in_order(&self, gpu: &GpuInner) -> Result<()> {
        gpu.bind()?;
        let _order = gpu.order();
        if let [Place::Stream(only)] = &self.places[..]
            && only.capture().is_none()
        {
            // SAFETY: ours; all uses came before in this stream.
            return unsafe { call!(cuMemFreeAsync(self.base, only.raw)) };
        }
        for place in &self.places {
            place.lead(gpu.errands)?;
        }
        // SAFETY: ours; all uses come before, by the waits.
        unsafe { call!(cuMemFreeAsync(self.base, gpu.errands)) }
    }
}

impl GpuInner {
    /// Frees what was dropped where it could not be freed.
    pub(crate) fn adopt_orphans(&self) {
        let orphans = std::mem::take(&mut *lock(&self.orphans));
        orphans.into_iter().for_each(|orphan| orphan.free(self));
    }
}
