//! A use of memory by work that a stream or a graph is given: whether its device may, and the use's place in the order.

use std::sync::Arc;

use super::allocation::Allocation;
use super::peer_access::PeerAccess;
use super::view::{RawView, ViewUse};
use crate::error::{Code, Error, Result};
use crate::gpu::open_device::{OpenDevice, put_in_one_order};
use crate::order::access::{Access, AccessKind, ViewScope};
use crate::order::history::OrderedMemory;
use crate::order::order_lock::OrderGuard;
use crate::panics::timeline::NewLaunch;
use crate::stream::Stream;

const MEMORY_ELSEWHERE: &str = "make the memory by the same `Gpu`, copy it by `stream.copy_from_peer`, or pass a view of it (`allow_peer`, `PeerAccess::view`)";
const ARRAY_ELSEWHERE: &str = "make the array by the same `Gpu`: its own device alone uses it; `copy_array_from_peer` and its like take its texels elsewhere";

/// Bytes of an allocation that work uses.
#[derive(Clone, Copy)]
pub(crate) struct Use<'a> {
    pub(crate) allocation: &'a Arc<Allocation>,
    view: RawView<'a>,
    pub(crate) kind: AccessKind,
}

impl<'a> RawView<'a> {
    /// What work uses that does this to the view; `None` without memory.
    #[inline]
    pub(crate) fn use_for(&self, kind: AccessKind) -> Option<Use<'a>> {
        Some(Use {
            allocation: self.allocation?,
            view: *self,
            kind,
        })
    }
}

impl<'a> ViewUse<'a> {
    /// What work uses; `None` without memory.
    #[inline]
    pub(crate) fn of_memory(&self) -> Option<Use<'a>> {
        self.view.use_for(self.kind)
    }
}

impl<'a> Use<'a> {
    /// The bytes of the allocation, and what is done to them.
    pub(crate) fn access(&self) -> Access {
        self.view.access(self.kind)
    }

    pub(crate) fn scope(&self) -> ViewScope {
        self.view.scope
    }

    /// By which another device than the memory's own uses it.
    pub(crate) fn peer(&self) -> Option<&'a PeerAccess> {
        self.view.peer
    }

    /// Whether the memory is of this device.
    #[inline]
    pub(crate) fn is_of(&self, gpu: &Arc<OpenDevice>) -> bool {
        Arc::ptr_eq(&self.allocation.gpu, gpu)
    }

    /// Whether all uses so far were in the stream that has this number now, and so on this device.
    #[inline]
    pub(crate) fn is_owned_by(&self, number: u64, gpu: &Arc<OpenDevice>) -> bool {
        self.allocation.is_owned_by(number) && self.is_of(gpu)
    }

    /// # Errors
    ///
    /// The memory is written, and the device may only load from it.
    #[inline]
    pub(crate) fn check_writable(&self, call: &'static str) -> Result<()> {
        match self.kind {
            AccessKind::Read => Ok(()),
            AccessKind::Write => self.allocation.check_writable(call),
        }
    }

    /// The caller holds no order lock.
    ///
    /// # Errors
    ///
    /// The memory is of another device than the stream, and was not passed by a view for that.
    #[inline]
    pub(crate) fn check_stream(&self, call: &'static str, stream: &Stream) -> Result<()> {
        self.check_device(call, "the stream", &stream.gpu)
    }

    /// As [`check_stream`](Self::check_stream), of what takes the memory on this device.
    #[inline]
    pub(crate) fn check_device(
        &self,
        call: &'static str,
        what: &str,
        gpu: &Arc<OpenDevice>,
    ) -> Result<()> {
        match self.is_of(gpu) {
            true => Ok(()),
            false => self.check_other_device(call, what, gpu),
        }
    }

    #[cold]
    fn check_other_device(
        &self,
        call: &'static str,
        what: &str,
        gpu: &Arc<OpenDevice>,
    ) -> Result<()> {
        let owner = &self.allocation.gpu;
        let may = self.peer().is_some_and(|peer| peer.is_for(gpu, owner))
            || self.allocation.is_reached_by(gpu)?;
        if !may {
            let [of_memory, other] = [owner, gpu].map(|gpu| gpu.context().choice);
            let (memory, hint) = match self.allocation.is_array() {
                true => ("array", ARRAY_ELSEWHERE),
                false => ("memory", MEMORY_ELSEWHERE),
            };
            return Err(Error::misuse(
                call,
                Code::INVALID_CONTEXT,
                format!("the {memory} is of `{of_memory}`, {what} of `{other}`"),
                hint,
            ));
        }
        put_in_one_order(owner, gpu);
        Ok(())
    }

    /// Puts the use by `call` in order: in the capture that the stream is part of, or among what is really enqueued, as `launch`.
    pub(crate) fn order(
        &self,
        call: &'static str,
        guard: &OrderGuard<'_>,
        stream: &Stream,
        launch: &NewLaunch<'_>,
    ) -> Result<()> {
        self.check_writable(call)?;
        let peer = self.peer().filter(|_| !self.is_of(&stream.gpu));
        let capture = stream.gpu.order().capture_of(guard, &stream.handle);
        if let Some(memory) = self.allocation.graph_memory() {
            match &capture {
                Some(capture) => memory.check_node_of(capture.number())?,
                None => return Err(memory.refuse_stream(call)),
            }
        }
        match capture {
            Some(capture) => {
                if let Some(kept) = peer.and_then(PeerAccess::keeper) {
                    capture.keep(guard, kept);
                }
                capture.order_use(
                    guard,
                    self.allocation.clone(),
                    &stream.handle,
                    self.access(),
                )
            }
            None => {
                if let Some(peer) = peer {
                    peer.note_user(guard, &stream.handle);
                }
                self.allocation.order_use(
                    call,
                    guard,
                    &stream.handle,
                    launch,
                    self.access(),
                    self.scope(),
                )
            }
        }
    }
}
