//! A call of another library that enqueues work in one stream, with as many uses of memory as the compiler knows: [`ForeignWork`] without its lists.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;

use super::foreign::{ForeignMemory, ForeignWork};
use super::foreign_outcome::{ForeignOutcome, Revocable};
use super::view::{DeviceRead, DeviceWrite, ViewUse};
use crate::error::{Error, Result};
use crate::order::access::AccessKind;
use crate::panics::write_mark::WriteMark;
use crate::stream::Stream;
use crate::trace::listeners;

/// A use of memory by a [`ForeignCall`].
pub struct ForeignUse<'a, T> {
    used: ViewUse<'a>,
    of: PhantomData<T>,
}

impl<'a, T: Pod> ForeignUse<'a, T> {
    /// The call reads `memory`.
    #[inline(always)]
    pub fn reads<M: DeviceRead<Item = T> + ?Sized>(memory: &'a M) -> ForeignUse<'a, T> {
        ForeignUse {
            used: memory.raw_view().used_for(AccessKind::Read),
            of: PhantomData,
        }
    }

    /// The call writes `memory`, and may read it.
    #[inline(always)]
    pub fn writes<M: DeviceWrite<Item = T> + ?Sized>(memory: &'a mut M) -> ForeignUse<'a, T> {
        let memory: &'a M = memory;
        ForeignUse {
            used: memory.raw_view().used_for(AccessKind::Write),
            of: PhantomData,
        }
    }

    /// Where it is.
    #[inline(always)]
    pub fn memory(&self) -> ForeignMemory<T> {
        ForeignMemory::of(&self.used.view)
    }

    /// The same use, for one call.
    #[inline(always)]
    fn copied(&self) -> ForeignUse<'a, T> {
        ForeignUse {
            used: self.used,
            of: PhantomData,
        }
    }

    #[inline(always)]
    fn is_written(&self) -> bool {
        self.used.kind == AccessKind::Write
    }
}

/// A call of another library that enqueues work in one stream, of a library that makes the device current itself that it needs
/// ([`ForeignWork::sets_device`]), and that may give the work up before it is done ([`ForeignWork::enqueue_revocable`]). It does what [`ForeignWork`] does of
/// the same memory.
///
/// ```
/// use std::sync::Arc;
/// use warpsmith_driver::raw;
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{ForeignCall, ForeignOutcome, ForeignUse};
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut numbers = stream.upload(&[1_u8, 2, 3, 4])?;
/// let mut outcome = ForeignOutcome::default();
/// let call = ForeignCall {
///     call: "a library's fill",
///     stream: &stream,
///     memory: [ForeignUse::writes(&mut numbers)],
///     keeps: &Arc::new(()),
///     name: "fill",
/// };
/// let memory = call.memory[0].memory();
/// // SAFETY: the fill is enqueued in `stream`, and writes the four bytes of `numbers` alone; the context is current, as nothing else makes one so here.
/// unsafe {
///     call.enqueue(&mut outcome, || {
///         let code = raw::cuMemsetD8Async(memory.pointer().address(), 7, memory.len(), stream.as_raw().cast());
///         assert_eq!(code.0, 0);
///         Ok::<(), warpsmith_host::Error>(())
///     })
/// }?;
/// assert_eq!(stream.download(&numbers)?, [7; 4]);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is put in order before `enqueue`"]
pub struct ForeignCall<'a, T, K, const USES: usize> {
    /// By which errors name it.
    pub call: &'static str,
    /// The work is enqueued there.
    pub stream: &'a Stream,
    /// What it uses.
    pub memory: [ForeignUse<'a, T>; USES],
    /// What a graph keeps that it becomes part of.
    pub keeps: &'a Arc<K>,
    /// What errors call the work that was given up.
    pub name: &'static str,
}

impl<T: Pod, K: Any + Send + Sync, const USES: usize> ForeignCall<'_, T, K, USES> {
    /// Puts the work in order and enqueues it, as [`ForeignWork::enqueue_revocable`] does.
    ///
    /// # Errors
    ///
    /// What `enqueue` answers; or the memory is of another device than the stream, only copies reach it, it may not be used in the stream, or the host has
    /// unified memory open that a device cannot share with it: then `enqueue` is not called.
    ///
    /// # Safety
    ///
    /// As for [`ForeignWork::enqueue`].
    #[inline(always)]
    pub unsafe fn enqueue<R, E: From<Error>>(
        self,
        outcome: &mut ForeignOutcome,
        enqueue: impl FnOnce() -> Result<R, E> + Copy,
    ) -> Result<R, E> {
        if !self.is_in_owning_stream() {
            // What is handed on has to be in memory, and is copied there here: on the fast path it stays in registers.
            let copy = ForeignCall {
                memory: self.memory.each_ref().map(ForeignUse::copied),
                ..self
            };
            // SAFETY: this function's condition; the call is the same.
            return unsafe { copy.enqueue_as_work(outcome, enqueue) };
        }
        let Self { stream, name, .. } = self;
        stream.gpu.bind_once()?;
        if !self.memory.iter().any(ForeignUse::is_written) {
            return enqueue();
        }
        let noted = outcome.note(stream, name);
        self.mark_written(noted.mark);
        let done = enqueue();
        if noted.launch.is_none()
            && let Some(mark) = outcome.renew(stream, name)
        {
            self.mark_written(mark);
        }
        done
    }

    /// Whether the stream owns all the memory, is not captured, and neither its device nor anybody else has a reason to look at what is enqueued: as a launch
    /// on its fast path the work needs no order but the stream's.
    #[inline(always)]
    fn is_in_owning_stream(&self) -> bool {
        let stream = self.stream;
        let number = stream.handle.current_number();
        let is_owned = |used: &ForeignUse<'_, T>| {
            used.used.of_memory().is_none_or(|used| {
                used.is_owned_by(number, &stream.gpu) && !used.allocation.is_for_copies_only()
            })
        };
        !stream.handle.is_captured()
            && stream.gpu.order().launch_gate.state().is_open()
            && !listeners::are_there()
            && self.memory.iter().all(is_owned)
    }

    /// Notes which work writes what is written, in the stream that owns it.
    #[inline(always)]
    fn mark_written(&self, mark: WriteMark) {
        for used in &self.memory {
            if used.is_written()
                && let Some(allocation) = used.used.view.allocation
            {
                allocation.note_write(mark);
            }
        }
    }

    /// As [`enqueue`](Self::enqueue), where the work has to be put in order, told of, or refused.
    ///
    /// # Safety
    ///
    /// As for [`enqueue`](Self::enqueue).
    #[cold]
    unsafe fn enqueue_as_work<R, E: From<Error>>(
        self,
        outcome: &mut ForeignOutcome,
        enqueue: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        let mut work = ForeignWork::new(self.call);
        work.sets_device();
        work.keeps(self.keeps);
        for ForeignUse { used, .. } in self.memory {
            work.add_use(self.stream, used)?;
        }
        work.uses(self.stream);
        let (stream, name) = (self.stream, self.name);
        let revocable = &mut [Revocable {
            outcome,
            stream,
            name,
        }];
        // SAFETY: this function's condition; the work has the call's stream, memory and what it keeps.
        unsafe { work.enqueue_revocable(revocable, enqueue) }
    }
}
