//! A graph of the driver, as its description and its executable graphs share it.

use std::cmp::Ordering;
use std::marker::PhantomData;
use std::sync::atomic::{self, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard};

use warpsmith_driver::raw;

use super::last_handle::LastHandle;
use crate::driver_call::call;
use crate::gpu::open_device::OpenDevice;
use crate::order::order_lock::OrderGuard;
use crate::sync::lock;

/// A graph of the driver with all that is inside its nodes, destroyed with its last owner. Executable graphs own it, too: its nodes are the names by
/// which theirs are changed.
pub(crate) struct Template {
    gpu: Arc<OpenDevice>,
    graph: LastHandle<raw::CUgraph>,
    turn: Mutex<()>,
    /// How often a node or an edge was added.
    changes: AtomicU64,
}

// SAFETY: a shared reference gives nothing that uses the graph: the lock, a number, and the handle, by which it is used with a turn alone.
unsafe impl Sync for Template {}

/// Proof that no other thread uses the graph of a template, or of a capture.
pub(super) struct TemplateTurn<'a> {
    _held: Option<MutexGuard<'a, ()>>,
    _order: PhantomData<&'a ()>,
}

impl<'a> TemplateTurn<'a> {
    /// For the graph of a capture: what adds to that does so under the order lock.
    pub(super) fn of_capture(_guard: &'a OrderGuard<'_>) -> TemplateTurn<'a> {
        TemplateTurn {
            _held: None,
            _order: PhantomData,
        }
    }
}

impl Template {
    /// Takes over a graph, which nobody else destroys.
    pub(super) fn own(gpu: &Arc<OpenDevice>, graph: raw::CUgraph) -> Arc<Template> {
        Arc::new(Template {
            gpu: gpu.clone(),
            graph: LastHandle::new(graph),
            turn: Mutex::new(()),
            changes: AtomicU64::new(0),
        })
    }

    /// The driver's graph, which lives as long as this.
    pub(super) fn raw(&self) -> raw::CUgraph {
        self.graph.raw()
    }

    /// Notes that a node or an edge is added; the caller has the turn.
    pub(super) fn note_change(&self) {
        self.changes.fetch_add(1, atomic::Ordering::Relaxed);
    }

    /// A number that is another one when something was added.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(atomic::Ordering::Relaxed)
    }

    /// For each use of the graph: the driver's graphs are for one thread at a time (CUDA driver API, "graph object thread safety"), and
    /// executable graphs may be changed by other threads than the one that has the description.
    pub(super) fn turn(&self) -> TemplateTurn<'_> {
        TemplateTurn {
            _held: Some(lock(&self.turn)),
            _order: PhantomData,
        }
    }
}

/// The turns of two templates, which may be the same one.
pub(super) fn turns<'a>(
    one: &'a Template,
    other: &'a Template,
) -> (TemplateTurn<'a>, Option<TemplateTurn<'a>>) {
    // All threads take both in the same order.
    let addresses = [one, other].map(|template| std::ptr::from_ref(template).addr());
    match addresses[0].cmp(&addresses[1]) {
        Ordering::Equal => (one.turn(), None),
        Ordering::Less => (one.turn(), Some(other.turn())),
        Ordering::Greater => (other.turn(), Some(one.turn())),
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        let graph = LastHandle::new(self.graph.raw());
        // SAFETY: this was the graph's last owner, and `drop` runs once; what launches need they have themselves.
        let destroy = move || unsafe { call!(cuGraphDestroy(graph.raw())) };
        self.gpu.context().destroy(destroy);
    }
}
