//! A piece of memory that the device can reach, whatever its kind, with what is known about its uses.

use std::alloc::Layout;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::array::block::ArrayBlock;
use super::array::texture_objects::TextureObjects;
use super::host_block::HostBlock;
use super::released::{GiveBack, MemoryKind, ReleasedMemory};
use super::virtual_memory::range::AddressRange;
use crate::context::choice::DeviceChoice;
use crate::error::{Busy, Code, Error, Result};
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::order::access::{Access, AccessKind, ViewScope};
use crate::order::graph_memory::GraphMemory;
use crate::order::history::{OrderedMemory, UseHistory};
use crate::order::order_lock::OrderGuard;
use crate::order::stream_handle::StreamHandle;
use crate::panics::timeline::NewLaunch;
use crate::panics::write_mark::WriteMark;
use crate::reclaim::Reclaim;
use crate::stream::Stream;
use crate::sync::lock;

/// The address of what describes memory of a pool that was freed.
pub(super) const NO_MEMORY: u64 = 0;

/// What a launch, an allocation and a free read of it stands first, in one line of the cache.
#[repr(C, align(64))]
pub(crate) struct Allocation {
    pub(crate) gpu: Arc<OpenDevice>,
    /// The address on the device; for pinned memory that is not mapped, on the host. It and the size change only while nobody shares `self`:
    /// see [`freed_block`](super::freed_block).
    pub(super) base: AtomicU64,
    pub(super) bytes: AtomicUsize,
    pub(super) history: UseHistory,
    pub(super) kind: MemoryKind,
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
    /// Host memory that the driver knows and nobody else owns.
    pub(crate) fn of_block(gpu: &Arc<OpenDevice>, block: HostBlock) -> HostAllocation {
        let base = block.device.unwrap_or(block.host as u64);
        HostAllocation {
            allocation: Allocation::new(gpu, base, block.bytes, MemoryKind::Pinned(block)),
            pointer: block.host,
        }
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

    pub(super) fn new(
        gpu: &Arc<OpenDevice>,
        base: u64,
        bytes: usize,
        kind: MemoryKind,
    ) -> Arc<Allocation> {
        Allocation::with_history(gpu, base, bytes, kind, UseHistory::default())
    }

    pub(super) fn with_history(
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

    /// Notes a write in the stream that owns it.
    #[inline]
    pub(crate) fn note_write(&self, mark: WriteMark) {
        self.history.note_write(mark);
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

    /// Whether it is of a pool on the host.
    #[inline]
    pub(super) fn is_of_host_pool(&self) -> bool {
        matches!(
            self.kind,
            MemoryKind::OwnPool {
                is_of_host: true,
                ..
            }
        )
    }

    /// Whether other processes may open it.
    pub(super) fn is_exportable(&self) -> bool {
        matches!(self.kind, MemoryKind::Exportable)
    }

    /// The device that the memory lies on; none of host memory, of unified memory and of addresses that anything may be mapped to.
    pub(super) fn lies_on(&self) -> Option<DeviceChoice> {
        let may_lie_elsewhere = self.is_of_host_pool()
            || matches!(
                self.kind,
                MemoryKind::Pinned(_) | MemoryKind::Managed | MemoryKind::Virtual(_)
            );
        (!may_lie_elsewhere).then(|| self.gpu.context().choice)
    }

    pub(super) fn is_array(&self) -> bool {
        matches!(self.kind, MemoryKind::Array(_))
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
        check_same_device(call, ("the memory", &self.gpu), ("the stream", &stream.gpu))
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

    fn check_attachment(&self, call: &'static str, stream: &StreamHandle) -> Result<()> {
        match self.attachment() {
            Attachment::Everywhere => Ok(()),
            Attachment::OneStream(owner) if *owner == *stream => Ok(()),
            Attachment::OneStream(_) | Attachment::HostOnly => Err(Error::misuse(
                call,
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
        call: &'static str,
        guard: &OrderGuard<'_>,
        stream: &Arc<StreamHandle>,
        launch: &NewLaunch<'_>,
        access: Access,
        scope: ViewScope,
    ) -> Result<()> {
        self.check_attachment(call, stream)?;
        // Memory that the host can reach has no owner, so that each use comes here: is checked against the attachment, and is noted with its
        // number, by which the host knows whether it waited for it.
        let scope = match &self.kind {
            // No owner either has what the device may only load from, so that `Use::order` is asked about each write.
            MemoryKind::Virtual(range) if range.is_read_only() => ViewScope::Shared,
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
