//! A piece of memory that the device can reach, whatever its kind, with what is known about its uses.

use std::alloc::Layout;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use warpsmith_driver::raw;

use super::array::block::ArrayBlock;
use super::array::texture_objects::TextureObjects;
use super::host_block::{HostBlock, HostMapping};
use super::pool::handle::PoolHandle;
use super::released::{GiveBack, MemoryKind, ReleasedMemory};
use super::virtual_memory::range::AddressRange;
use crate::driver_call::handle::Handle;
use crate::driver_call::{self, call, check};
use crate::error::{Busy, Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::order::access::{Access, AccessKind, ViewScope};
use crate::order::graph_memory::GraphMemory;
use crate::order::history::{OrderedMemory, UseHistory};
use crate::order::order_lock::OrderGuard;
use crate::order::stream_handle::StreamHandle;
use crate::panics::timeline::NewLaunch;
use crate::reclaim::Reclaim;
use crate::stream::Stream;
use crate::sync::lock;
use crate::trace::track::Track;
use crate::trace::work::Work;

/// The address of what describes memory of a pool that was freed.
pub(super) const NO_MEMORY: u64 = 0;

pub(crate) struct Allocation {
    pub(crate) gpu: Arc<OpenDevice>,
    /// The address on the device; for pinned memory that is not mapped, on the host. It and the size change only while nobody shares `self`:
    /// see [`freed_block`](super::freed_block).
    pub(super) base: AtomicU64,
    pub(super) bytes: AtomicUsize,
    pub(super) kind: MemoryKind,
    pub(super) history: UseHistory,
    /// Changed under the device's order lock only.
    attachment: Mutex<Attachment>,
    /// What reads it as texels; an array's block has its own.
    pub(super) textures: OnceLock<Arc<TextureObjects>>,
}

/// Who may use managed memory on a device that cannot share it with the host.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) enum Attachment {
    /// Every stream.
    #[default]
    Everywhere,
    /// No stream.
    HostOnly,
    /// This stream, which lives as long as that: with its end the driver gives the memory back to every stream.
    OneStream(Arc<StreamHandle>),
}

/// Host memory and where the host sees it.
pub(crate) struct HostAllocation {
    pub(crate) allocation: Arc<Allocation>,
    pub(crate) pointer: *mut u8,
}

impl Allocation {
    /// Device memory, usable in `stream` from here on and by others after it. Uninitialised.
    /// From a pool of the stream's device, or from its current one.
    // covers: POOL-02, POOL-09, POOL-12
    #[inline]
    pub(crate) fn in_stream(
        stream: &Stream,
        pool: Option<&Arc<PoolHandle>>,
        bytes: usize,
    ) -> Result<Arc<Allocation>> {
        let base = Allocation::enqueue(stream, pool.map(|pool| pool.handle()), bytes)?;
        match pool.filter(|pool| pool.is_of_program()) {
            None => Ok(Allocation::pooled(stream, base, bytes)),
            Some(pool) => {
                let kind = MemoryKind::OwnPool {
                    _pool: pool.clone(),
                };
                Ok(Allocation::pooled_anew(stream, base, bytes, kind))
            }
        }
    }

    /// Memory of the graph that the stream's capture makes, usable in the capture from here on: each launch has it anew. Uninitialised. Of the pool it has
    /// the properties alone.
    // covers: GMEM-06
    pub(crate) fn in_capture(
        stream: &Stream,
        pool: Option<Handle<raw::CUmemoryPool>>,
        bytes: usize,
    ) -> Result<Arc<Allocation>> {
        let gpu = &stream.gpu;
        gpu.bind()?;
        let guard = gpu.lock_order();
        let capture = gpu.order().capture_of(&guard, &stream.handle);
        let capture = capture.ok_or_else(|| {
            driver_call::failed("cuMemAllocAsync", Code::STREAM_CAPTURE_INVALIDATED)
        })?;
        let base = Allocation::enqueue(stream, pool, bytes).map_err(|error| match pool {
            Some(_) if error.code() == Some(Code::NOT_SUPPORTED) => error.and_doing(|| {
                "in a capture: a graph has no memory of a pool that other processes may open, use another pool there"
                    .into()
            }),
            _ => error,
        })?;
        let allocation = Allocation::of_graph(gpu, base, bytes, capture.number());
        capture.order_use(
            &guard,
            allocation.clone(),
            &stream.handle,
            Access::EVERYTHING,
        )?;
        Ok(allocation)
    }

    /// Enqueues an allocation; where it will be.
    #[inline]
    fn enqueue(
        stream: &Stream,
        pool: Option<Handle<raw::CUmemoryPool>>,
        bytes: usize,
    ) -> Result<u64> {
        let gpu = &stream.gpu;
        gpu.limits().require_pools()?;
        let mut base = 0;
        let allocated = if gpu.is_traced() {
            Allocation::ask_driver_traced(stream, pool, bytes, &mut base)
        } else {
            Allocation::ask_driver(stream, pool, bytes, &mut base)
        };
        match allocated {
            Ok(()) => Ok(base),
            Err(error) => Err(error.while_doing(|| format!("{bytes} bytes"))),
        }
    }

    /// The driver's part of [`enqueue`](Self::enqueue).
    #[inline(always)]
    fn ask_driver(
        stream: &Stream,
        pool: Option<Handle<raw::CUmemoryPool>>,
        bytes: usize,
        base: &mut u64,
    ) -> Result<()> {
        let raw = stream.handle.raw();
        // SAFETY: the driver writes one address to `base`, which outlives the call; `stream` owns the stream, and the caller has the pool.
        let code = stream.gpu.context().call_in_stream(move || unsafe {
            match pool {
                None => raw::cuMemAllocAsync(base, bytes, raw),
                Some(pool) => raw::cuMemAllocFromPoolAsync(base, bytes, pool.raw(), raw),
            }
        });
        check("cuMemAllocAsync", code)
    }

    #[cold]
    fn ask_driver_traced(
        stream: &Stream,
        pool: Option<Handle<raw::CUmemoryPool>>,
        bytes: usize,
        base: &mut u64,
    ) -> Result<()> {
        stream.gpu.traced(
            || Track::of(&stream.handle),
            || Work::call("cuMemAllocAsync", bytes),
            || Allocation::ask_driver(stream, pool, bytes, base),
        )
    }

    /// Memory of a pool, this process's or an imported one, whose address was just given: usable in `stream` from here on and by others
    /// after it.
    #[inline]
    pub(crate) fn pooled(stream: &Stream, base: u64, bytes: usize) -> Arc<Allocation> {
        match Allocation::of_freed_block(stream, base, bytes) {
            Some(allocation) => allocation,
            None => {
                let kind = MemoryKind::Pool(stream.handle.lane().clone());
                Allocation::pooled_anew(stream, base, bytes, kind)
            }
        }
    }

    /// As [`pooled`](Self::pooled), where the stream keeps nothing that describes it.
    #[cold]
    fn pooled_anew(stream: &Stream, base: u64, bytes: usize, kind: MemoryKind) -> Arc<Allocation> {
        let history = UseHistory::begun_in(&stream.handle);
        Allocation::with_history(&stream.gpu, base, bytes, kind, history)
    }

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

    /// Host memory that the driver knows and nobody else owns.
    pub(crate) fn of_block(gpu: &Arc<OpenDevice>, block: HostBlock) -> HostAllocation {
        let base = block.device.unwrap_or(block.host as u64);
        HostAllocation {
            allocation: Allocation::new(gpu, base, block.bytes, MemoryKind::Pinned(block)),
            pointer: block.host,
        }
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
            let why = match error.code() {
                Some(Code::INVALID_CONTEXT) => {
                    "memory of this very process: use the buffer that was exported"
                }
                Some(Code::NOT_PERMITTED) => "its owner has freed it or has ended",
                _ => "memory of another process",
            };
            error.while_doing(|| why.into())
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

    /// Device memory that somebody else owns, to whom `give_back` gives it when it was dropped and is not used any more.
    pub(crate) fn foreign(
        gpu: &Arc<OpenDevice>,
        base: u64,
        bytes: usize,
        give_back: Box<dyn Reclaim>,
    ) -> Arc<Allocation> {
        let kind = MemoryKind::Foreign(Arc::new(GiveBack::new(give_back)));
        Allocation::new(gpu, base, bytes, kind)
    }

    /// As [`foreign`](Self::foreign), usable in `stream` from here on and by others after it.
    pub(crate) fn foreign_in(
        stream: &Stream,
        base: u64,
        bytes: usize,
        give_back: Box<dyn Reclaim>,
    ) -> Arc<Allocation> {
        let history = UseHistory::begun_in(&stream.handle);
        let kind = MemoryKind::Foreign(Arc::new(GiveBack::new(give_back)));
        Allocation::with_history(&stream.gpu, base, bytes, kind, history)
    }

    /// Reserved addresses, into which nothing is mapped yet; `bytes` is a multiple of the granularity.
    pub(crate) fn reserved(gpu: &Arc<OpenDevice>, bytes: usize) -> Result<Arc<Allocation>> {
        let range = Arc::new(AddressRange::reserve(gpu, bytes)?);
        Ok(Allocation::new(
            gpu,
            range.base,
            bytes,
            MemoryKind::Virtual(range),
        ))
    }

    /// The reserved addresses of virtual memory.
    ///
    /// # Errors
    ///
    /// It is other memory.
    pub(crate) fn range(&self, call: &'static str) -> Result<&AddressRange> {
        match &self.kind {
            MemoryKind::Virtual(range) => Ok(range),
            _ => Err(Error::misuse(
                call,
                Code::INVALID_VALUE,
                "the memory has no reserved addresses",
                "make it with `gpu.growable` or `PhysicalMemory::map`",
            )),
        }
    }

    /// The texels of an array, which are used by their offsets: it has no address.
    pub(crate) fn of_array(gpu: &Arc<OpenDevice>, block: Arc<ArrayBlock>) -> Arc<Allocation> {
        Allocation::new(gpu, 0, block.bytes, MemoryKind::Array(block))
    }

    /// Memory of this graph, `bytes` at the address that its allocation node has.
    pub(crate) fn of_graph(
        gpu: &Arc<OpenDevice>,
        base: u64,
        bytes: usize,
        graph: u64,
    ) -> Arc<Allocation> {
        let memory = Arc::new(GraphMemory::of(graph, base));
        Allocation::new(gpu, base, bytes, MemoryKind::Graph(memory))
    }

    fn new(gpu: &Arc<OpenDevice>, base: u64, bytes: usize, kind: MemoryKind) -> Arc<Allocation> {
        Allocation::with_history(gpu, base, bytes, kind, UseHistory::default())
    }

    fn with_history(
        gpu: &Arc<OpenDevice>,
        base: u64,
        bytes: usize,
        kind: MemoryKind,
        history: UseHistory,
    ) -> Arc<Allocation> {
        Arc::new(Allocation {
            gpu: gpu.clone(),
            base: AtomicU64::new(base),
            bytes: AtomicUsize::new(bytes),
            kind,
            history,
            attachment: Mutex::default(),
            textures: OnceLock::new(),
        })
    }

    /// Its address on the device; for pinned memory that is not mapped, on the host.
    #[inline]
    pub(crate) fn base(&self) -> u64 {
        self.base.load(Ordering::Relaxed)
    }

    /// Its size.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Its texture objects, which are destroyed when it ends and its last use is over.
    pub(super) fn textures(&self) -> &TextureObjects {
        self.textures.get_or_init(Arc::default)
    }

    /// The fast path: every use so far was in the stream that has this number now.
    #[inline]
    pub(crate) fn is_owned_by(&self, number: u64) -> bool {
        self.history.is_owned_by(number)
    }

    /// Notes a write in the stream that owns it, as or after this launch.
    #[inline]
    pub(crate) fn note_write(&self, launch: u64) {
        self.history.note_write(launch);
    }

    /// Restricts managed memory on a device that cannot share it.
    pub(crate) fn attach(&self, guard: &OrderGuard<'_>, attachment: Attachment) {
        *lock(&self.attachment) = attachment;
        self.history.disown(guard);
    }

    /// Which streams may be using it now on a device that cannot share managed memory.
    pub(crate) fn attachment(&self) -> Attachment {
        lock(&self.attachment).clone()
    }

    /// Takes registered host memory, which the device has finished with, back from the driver.
    ///
    /// # Errors
    ///
    /// It is other memory, or the context is lost.
    pub(crate) fn unregister(mut self) -> Result<(*mut u8, Layout)> {
        self.gpu.bind()?;
        let MemoryKind::Pinned(block) = self.kind else {
            return Err(Error::misuse(
                "cuMemHostUnregister",
                Code::HOST_MEMORY_NOT_REGISTERED,
                "this is no host memory",
                "only what `gpu.register` made is unregistered",
            ));
        };
        // SAFETY: the device has finished with it, which the caller has found out; and as `self` is no longer shared nothing begins to use
        // it.
        let memory = unsafe { block.unregister() }?;
        self.kind = MemoryKind::GivenBack;
        Ok(memory)
    }

    /// Takes the memory out, which is the caller's to free; `None` if it is freed, or taken out.
    pub(crate) fn take_released(&mut self) -> Option<ReleasedMemory> {
        let is_gone = match self.kind {
            MemoryKind::Pool(_) => self.base() == NO_MEMORY,
            MemoryKind::GivenBack => true,
            _ => false,
        };
        (!is_gone).then(|| ReleasedMemory {
            base: self.base(),
            bytes: self.bytes(),
            kind: std::mem::replace(&mut self.kind, MemoryKind::GivenBack),
            positions: self.history.take_positions(),
            textures: self.textures.take(),
        })
    }

    /// Whether it is host memory that only copies reach.
    pub(crate) fn is_for_copies_only(&self) -> bool {
        matches!(self.kind, MemoryKind::Pinned(block) if block.device.is_none())
    }

    /// Whether other processes may open it.
    pub(super) fn is_exportable(&self) -> bool {
        matches!(self.kind, MemoryKind::Exportable)
    }

    /// Whether work of another device than the memory's own reaches it, at the same address and without being granted access.
    pub(crate) fn is_reached_by(&self, gpu: &OpenDevice) -> Result<bool> {
        match &self.kind {
            MemoryKind::Pinned(block) => block.is_reached_by(gpu),
            // Where a device cannot share it, its own launch gate alone keeps kernels out while the host has it open.
            MemoryKind::Managed => {
                let is_shared = |gpu: &OpenDevice| gpu.limits().concurrent_managed;
                Ok(is_shared(gpu) && is_shared(&self.gpu))
            }
            _ => Ok(false),
        }
    }

    pub(crate) fn is_managed(&self) -> bool {
        matches!(self.kind, MemoryKind::Managed)
    }

    /// From here on views of parts are used independently of each other.
    pub(crate) fn split(&self) {
        self.history.fix_positions(&self.gpu.lock_order());
    }

    /// Refuses while the device may use the memory in a way that conflicts with this access by the host.
    // covers: UM-06, PINNED-06
    pub(crate) fn check_host_access(
        &self,
        guard: &OrderGuard<'_>,
        call: &'static str,
        access: &Access,
    ) -> Result<()> {
        if let Some(reach) = self.history.before_host_access(guard, access)? {
            // The memory may be what a kernel left that panicked.
            self.gpu.panics().take_kernel_panics(&reach)?;
            return match access.kind {
                AccessKind::Read => self.check_finished(call),
                AccessKind::Write => Ok(()),
            };
        }
        Err(Error::Busy(Box::new(Busy {
            call,
            reason: "the device may still be using this memory".into(),
            hint: "wait first: `stream.synchronize()`, `event.synchronize()` or `gpu.synchronize()`",
        })))
    }

    /// # Errors
    ///
    /// Work of another library was given up while it wrote the memory, and nothing has written it since.
    pub(crate) fn check_finished(&self, call: &'static str) -> Result<()> {
        let unfinished = self.gpu.panics().unfinished();
        unfinished.check(call, || self.history.last_write())
    }

    /// # Errors
    ///
    /// The stream belongs to another device than the memory.
    pub(crate) fn check_gpu(&self, call: &'static str, stream: &Stream) -> Result<()> {
        check_same_device(call, &self.gpu, &stream.gpu)
    }

    /// # Errors
    ///
    /// The device may only load from it.
    pub(crate) fn check_writable(&self, call: &'static str) -> Result<()> {
        match &self.kind {
            MemoryKind::Virtual(range) if range.is_read_only() => Err(Error::misuse(
                call,
                Code::INVALID_VALUE,
                format!(
                    "the memory at {:#x} is mapped for reading alone (`MappingAccess::Read`)",
                    range.base
                ),
                "map the physical memory by `MappingAccess::ReadWrite`, too, and write it there",
            )),
            _ => Ok(()),
        }
    }

    fn check_attachment(&self, stream: &StreamHandle) -> Result<()> {
        match self.attachment() {
            Attachment::Everywhere => Ok(()),
            Attachment::OneStream(owner) if *owner == *stream => Ok(()),
            Attachment::OneStream(_) | Attachment::HostOnly => Err(Error::misuse(
                "UnifiedBuffer",
                Code::NOT_PERMITTED,
                "the memory is attached to the host or to another stream, and this device cannot share it",
                "attach it to this stream or globally first",
            )),
        }
    }
}

impl OrderedMemory for Allocation {
    fn history(&self) -> &UseHistory {
        &self.history
    }

    fn graph_memory(&self) -> Option<&GraphMemory> {
        match &self.kind {
            MemoryKind::Graph(memory) => Some(memory),
            _ => None,
        }
    }

    fn order_use(
        &self,
        guard: &OrderGuard<'_>,
        stream: &Arc<StreamHandle>,
        launch: &NewLaunch<'_>,
        access: Access,
        scope: ViewScope,
    ) -> Result<()> {
        self.check_attachment(stream)?;
        // Memory that the host can reach has no owner, so that each use comes here: is checked against the attachment, and is noted with its
        // number, by which the host knows whether it waited for it.
        let scope = match self.kind {
            MemoryKind::Pool(_)
            | MemoryKind::OwnPool { .. }
            | MemoryKind::Virtual(_)
            | MemoryKind::Graph(_)
            | MemoryKind::Exportable
            | MemoryKind::Opened
            | MemoryKind::Foreign(_) => scope,
            // An array's textures and surfaces are used beside it.
            MemoryKind::Pinned(_)
            | MemoryKind::Managed
            | MemoryKind::GivenBack
            | MemoryKind::Array(_) => ViewScope::Shared,
        };
        self.history.order_use(guard, stream, launch, access, scope)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Some(released) = self.take_released() {
            self.gpu.call_driver_later(move |gpu| released.free(gpu));
        }
    }
}
