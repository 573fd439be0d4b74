//! Host memory that the device can reach, and the guards through which the host accesses it.
//!
//! The guards are no locks that the device respects: they are given only when the device is done. A guard that is forgotten keeps
//! nothing in flight (nothing was), and graphs that use the memory stay refused, which is safe.

use std::any::Any;
use std::ops::{Deref, DerefMut, RangeBounds};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use bytemuck::Pod;

use super::allocation::{Allocation, Attachment, HostAllocation};
use super::slice::{narrow, try_narrow};
use super::view::RawView;
use crate::error::{Busy, Error, Result};
use crate::gpu::open_device::DeviceState;
use crate::order::access::{Access, AccessKind};
use crate::order::history::OrderedMemory;
use crate::order::order_lock::OrderGuard;
use crate::order::stream_handle::StreamHandle;

/// What pinned, mapped and unified buffers share.
pub(crate) struct HostMemory<T: Pod> {
    pub(crate) allocation: Option<Arc<Allocation>>,
    pointer: *mut T,
    len: usize,
}

// SAFETY: it owns plain values (`T: Pod`), which may be dropped and used on another thread as those of a `Vec`.
unsafe impl<T: Pod + Send> Send for HostMemory<T> {}
// SAFETY: `&self` gives `&[T]` only (`read`), and `&mut self` is needed for `&mut [T]` (`write`), as with a `Vec`.
unsafe impl<T: Pod + Sync> Sync for HostMemory<T> {}

impl<T: Pod> HostMemory<T> {
    /// The memory must hold `len` initialised values at `pointer`.
    pub(crate) fn new(memory: Option<HostAllocation>, len: usize) -> HostMemory<T> {
        match memory {
            Some(memory) => HostMemory {
                allocation: Some(memory.allocation),
                pointer: memory.pointer.cast(),
                len,
            },
            None => HostMemory {
                allocation: None,
                pointer: std::ptr::dangling_mut(),
                len,
            },
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where the host sees it.
    pub(crate) fn host_address(&self) -> u64 {
        self.pointer.expose_provenance() as u64
    }

    pub(crate) fn view(&self) -> RawView<'_> {
        RawView::whole::<T>(self.allocation.as_ref(), self.len)
    }

    pub(crate) fn host_view(&self) -> HostView<'_> {
        HostView {
            view: self.view(),
            host: self.pointer.cast(),
        }
    }

    pub(crate) fn read(&self, call: &'static str) -> Result<HostRead<'_, T>> {
        let access = Access::to_everything(AccessKind::Read);
        // SAFETY: the view is the whole memory, of initialised `T` (the contract of `new`), and borrowed for as long as the guard.
        unsafe { self.host_view().read(call, &access) }
    }

    pub(crate) fn write(&mut self, call: &'static str) -> Result<HostWrite<'_, T>> {
        // SAFETY: the view is the whole memory, of initialised `T` (the contract of `new`), and borrowed exclusively for as long as the guard.
        unsafe { self.host_view().write(call, &Access::EVERYTHING) }
    }
}

/// A range of host memory that the device can reach, and where the host sees it.
#[derive(Clone, Copy)]
pub struct HostView<'a> {
    pub(crate) view: RawView<'a>,
    /// Where the host sees the view's first byte.
    pub(crate) host: *mut u8,
}

// SAFETY: a view is a borrow of an allocation, which is `Sync`, and addresses; who reaches the memory by them says why it may.
unsafe impl Send for HostView<'_> {}
// SAFETY: a shared reference gives copies of the view, for which the reason given for `Send` holds.
unsafe impl Sync for HostView<'_> {}

impl<'a> HostView<'a> {
    /// Where the host sees the memory, for functions that take any address.
    pub(super) fn host_address(&self) -> u64 {
        self.host.expose_provenance() as u64
    }

    /// The part of its elements, of `T`, that the range gives.
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    #[track_caller]
    pub(super) fn narrow<T>(self, range: impl RangeBounds<usize>) -> HostView<'a> {
        self.part(narrow::<T>(self.view, range))
    }

    /// As [`narrow`](Self::narrow), for `call`.
    ///
    /// # Errors
    ///
    /// The range is out of bounds.
    pub(super) fn try_narrow<T>(
        self,
        call: &'static str,
        range: impl RangeBounds<usize>,
    ) -> Result<HostView<'a>> {
        Ok(self.part(try_narrow::<T>(call, self.view, range)?))
    }

    /// This part of the view.
    fn part(self, view: RawView<'a>) -> HostView<'a> {
        let offset = view.address - self.view.address;
        HostView {
            view,
            // At most the view's size, so that it stays within the memory.
            host: self.host.wrapping_add(offset as usize),
        }
    }

    /// Opens the view's elements for reading. `access` is what the host does, which covers the view's bytes.
    ///
    /// # Safety
    ///
    /// The view is of `T`, all initialised, and whoever calls holds a borrow of the view's elements for `'a`, so that meanwhile nothing safe
    /// writes them: neither the host nor work that begins.
    pub(super) unsafe fn read<T: Pod>(
        self,
        call: &'static str,
        access: &Access,
    ) -> Result<HostRead<'a, T>> {
        let access = HostAccess::begin(self.view, call, access)?;
        // SAFETY: there are `len` initialised values at `host` (the caller's contract). `HostAccess::begin` saw that the device does not
        // write them any more, and no work that writes them starts while the guard lives: launches and copies need an exclusive
        // borrow of what the guard borrows, and graphs are refused while the access is open.
        let values = unsafe { std::slice::from_raw_parts(self.host.cast(), self.view.len) };
        Ok(HostRead {
            values,
            _access: access.map(OpenAccess::ToMemory),
        })
    }

    /// Opens the view's elements for writing, as [`read`](Self::read) does for reading.
    ///
    /// # Safety
    ///
    /// As for `read`, and the borrow is exclusive.
    pub(super) unsafe fn write<T: Pod>(
        self,
        call: &'static str,
        access: &Access,
    ) -> Result<HostWrite<'a, T>> {
        let access = HostAccess::begin(self.view, call, access)?;
        // SAFETY: there are `len` initialised values at `host` (the caller's contract). `HostAccess::begin` saw that the device does not
        // use them any more, and no work that uses them starts while the guard lives: launches and copies need a borrow of what the
        // guard has exclusively, and graphs are refused while the access is open.
        let values = unsafe { std::slice::from_raw_parts_mut(self.host.cast(), self.view.len) };
        Ok(HostWrite {
            values,
            _access: access.map(OpenAccess::ToMemory),
        })
    }
}

/// An open access: graphs with this memory are refused, and on devices that cannot share unified memory, kernels.
struct HostAccess {
    allocation: Arc<Allocation>,
    kept_out: KeptOut,
}

/// The kernels that an open access of the host keeps out, as a device requires that cannot share unified memory.
pub(crate) enum KeptOut {
    None,
    /// Those of one stream.
    OfStream(Arc<StreamHandle>),
    All,
}

impl KeptOut {
    /// For an access to this memory.
    // covers: UM-01, UM-39
    fn by(allocation: &Allocation) -> KeptOut {
        if !allocation.is_managed() || allocation.gpu.limits().concurrent_managed {
            return KeptOut::None;
        }
        match allocation.attachment() {
            Attachment::Everywhere => KeptOut::All,
            Attachment::HostOnly => KeptOut::None,
            Attachment::OneStream(stream) => KeptOut::OfStream(stream),
        }
    }

    /// For an access to unified memory that any stream may use.
    pub(crate) fn by_all(gpu: &DeviceState) -> KeptOut {
        match gpu.limits().concurrent_managed {
            true => KeptOut::None,
            false => KeptOut::All,
        }
    }

    /// Keeps them out, if none may be running.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`]; or an earlier fault on the device.
    pub(crate) fn begin(
        &self,
        call: &'static str,
        gpu: &DeviceState,
        guard: &OrderGuard<'_>,
    ) -> Result<()> {
        // Before the question, so that no launch comes between.
        self.open(gpu);
        let done = self.are_done(gpu, guard);
        if matches!(done, Ok(true)) {
            return Ok(());
        }
        self.end(gpu);
        done?;
        Err(Error::Busy(Box::new(Busy {
            call,
            reason: match self {
                KeptOut::OfStream(_) => "this device cannot share unified memory with the host while the stream that it is attached to does something, and it may",
                _ => "this device cannot share unified memory with the host while a kernel runs, and one may",
            }
            .into(),
            hint: "wait first: `gpu.synchronize()`, or `stream.synchronize()` of the stream that the memory is attached to",
        })))
    }

    fn open(&self, gpu: &DeviceState) {
        match self {
            KeptOut::None => {}
            KeptOut::OfStream(stream) => stream.host_accesses().open(),
            KeptOut::All => gpu.order().launch_gate.open_host_access(),
        }
    }

    /// Lets them in again.
    pub(crate) fn end(&self, gpu: &DeviceState) {
        match self {
            KeptOut::None => {}
            KeptOut::OfStream(stream) => stream.host_accesses().close(),
            KeptOut::All => gpu.order().launch_gate.close_host_access(),
        }
    }

    /// Whether none of them may be running.
    ///
    /// # Errors
    ///
    /// An earlier fault on the device.
    fn are_done(&self, gpu: &DeviceState, guard: &OrderGuard<'_>) -> Result<bool> {
        match self {
            KeptOut::None => Ok(true),
            KeptOut::OfStream(stream) => stream.past_is_done(guard),
            // Nodes of another device's graphs are known by a stream of this crate's own.
            KeptOut::All => {
                gpu.bind()?;
                Ok(gpu.order().is_idle(guard)? && gpu.context().busy_own_streams()?.is_empty())
            }
        }
    }
}

impl HostAccess {
    /// `None` where there is no memory.
    fn begin(view: RawView<'_>, call: &'static str, access: &Access) -> Result<Option<HostAccess>> {
        let Some(allocation) = view.allocation else {
            return Ok(None);
        };
        let gpu = &allocation.gpu;
        let guard = gpu.lock_order();
        allocation.check_host_access(&guard, call, access)?;
        let kept_out = KeptOut::by(allocation);
        kept_out.begin(call, gpu, &guard)?;
        allocation.history().open_host_access(&guard);
        Ok(Some(HostAccess {
            allocation: allocation.clone(),
            kept_out,
        }))
    }
}

impl Drop for HostAccess {
    fn drop(&mut self) {
        self.allocation.history().close_host_access();
        self.kept_out.end(&self.allocation.gpu);
    }
}

/// What an open guard holds.
enum OpenAccess {
    #[expect(dead_code, reason = "it is dropped")]
    ToMemory(HostAccess),
    /// To something that floors above know.
    #[expect(dead_code, reason = "it is dropped")]
    Else(Box<dyn Any + Send + Sync>),
}

/// It is dropped alone.
impl UnwindSafe for OpenAccess {}
impl RefUnwindSafe for OpenAccess {}

/// The host's view of pinned, mapped or unified memory, for reading: a slice.
pub struct HostRead<'a, T: Pod> {
    values: &'a [T],
    _access: Option<OpenAccess>,
}

/// The host's view of pinned, mapped or unified memory, for reading and writing: a slice.
pub struct HostWrite<'a, T: Pod> {
    values: &'a mut [T],
    _access: Option<OpenAccess>,
}

impl<'a, T: Pod> HostRead<'a, T> {
    /// Of values that nothing writes while `access` is there.
    pub(crate) fn of(values: &'a [T], access: Box<dyn Any + Send + Sync>) -> HostRead<'a, T> {
        HostRead {
            values,
            _access: Some(OpenAccess::Else(access)),
        }
    }
}

impl<'a, T: Pod> HostWrite<'a, T> {
    /// Of values that nothing else reaches while `access` is there.
    pub(crate) fn of(values: &'a mut [T], access: Box<dyn Any + Send + Sync>) -> HostWrite<'a, T> {
        HostWrite {
            values,
            _access: Some(OpenAccess::Else(access)),
        }
    }
}

impl<T: Pod> Deref for HostRead<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.values
    }
}

impl<T: Pod> Deref for HostWrite<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.values
    }
}

impl<T: Pod> DerefMut for HostWrite<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.values
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for HostRead<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.values.fmt(f)
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for HostWrite<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.values.fmt(f)
    }
}
