//! Objects that were dropped but may still be in use on the device: they wait here, each with events that are complete after its last
//! use, and are freed at a later wait or allocation. So no destructor blocks, and nothing is freed while it is used.
//!
//! Device memory is not among them, the driver frees it in stream order. Host memory, managed memory and modules are: to free those
//! the driver waits until the *whole* device is idle, and blocks every thread that calls it until then. So they are freed when all
//! streams are idle anyway, and host memory is reused for the next request of its size.

use std::any::Any;
use std::sync::{Arc, Mutex};

use crate::context::primary::Context;
use crate::error::Result;
use crate::order::device_order::DeviceOrder;
use crate::order::position::StreamPosition;
use crate::order::recorded_event::RecordedEvent;
use crate::panics::timeline::Reach;
use crate::sync::lock;

/// Something that can wait here. Where it keeps its device open (owns a `Gpu`, as functions of the host may), both are freed at the
/// next wait of another owner of the device, and leak if there is none.
pub(crate) trait Reclaim: Any + Send {
    /// Bytes that waiting holds back.
    fn bytes(&self) -> usize {
        0
    }

    /// What freeing it does to the rest of the device.
    fn free_cost(&self) -> FreeCost;

    /// Frees it. Nothing on the device uses it any more, and `context` is current.
    fn free(self: Box<Self>, context: &Context) -> Result<()>;
}

/// What freeing something does to the rest of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FreeCost {
    /// Nothing.
    None,
    /// The driver waits until the whole device is idle.
    WaitsForIdleDevice,
}

/// What waits for its last use on one device.
#[derive(Default)]
pub(crate) struct Reclaimer {
    waiting: Mutex<Vec<Waiting>>,
}

/// Something that waits, and what it waits for.
struct Waiting {
    what: Box<dyn Reclaim>,
    events: Vec<Arc<RecordedEvent>>,
}

/// More bytes than this are not kept waiting for an idle device: then the host has to.
const MOST_BYTES: usize = 1 << 30;

impl Reclaimer {
    /// Frees `what` some time after these positions are past.
    pub(crate) fn retire(
        &self,
        context: &Context,
        order: &DeviceOrder,
        what: Box<dyn Reclaim>,
        positions: &[StreamPosition],
    ) {
        if let Err(error) = context.bind() {
            std::mem::forget(what);
            return context.report_drop(Err(error));
        }
        let mut events = Vec::new();
        {
            let guard = order.lock();
            for position in positions {
                match position.to_event(&guard, Reach::default()) {
                    Ok(None) => {}
                    Ok(Some(event)) => events.push(event),
                    Err(error) => context.report_drop(Err(error)),
                }
            }
        }
        lock(&self.waiting).push(Waiting { what, events });
    }

    /// As [`retire`](Self::retire), for objects that any stream may be using.
    pub(crate) fn retire_from_all(
        &self,
        context: &Context,
        order: &DeviceOrder,
        what: Box<dyn Reclaim>,
    ) {
        let positions: Vec<StreamPosition> = order
            .streams()
            .into_iter()
            .map(StreamPosition::End)
            .collect();
        self.retire(context, order, what, &positions);
    }

    /// Takes something of this type back that nothing uses any more, instead of its being freed.
    pub(crate) fn take_unused<T: Reclaim>(&self, is_wanted: impl Fn(&T) -> bool) -> Option<Box<T>> {
        let mut waiting = lock(&self.waiting);
        let index = waiting.iter().position(|waiting| {
            let what: &dyn Any = &*waiting.what;
            what.downcast_ref().is_some_and(&is_wanted) && waiting.is_done()
        })?;
        let found = waiting.swap_remove(index);
        drop(waiting);
        let what: Box<dyn Any> = found.what;
        what.downcast().ok()
    }

    /// Frees what nothing uses any more.
    pub(crate) fn reclaim(&self, context: &Context, order: &DeviceOrder) {
        if lock(&self.waiting).is_empty() {
            return;
        }
        // An error means that the context is lost.
        let idle = order.is_idle(&order.lock()).unwrap_or(true);
        let done: Vec<Waiting> = {
            let mut all = lock(&self.waiting);
            let bytes: usize = all.iter().map(|waiting| waiting.what.bytes()).sum();
            let may_wait_for_device = idle || bytes > MOST_BYTES;
            let (done, rest) = all.drain(..).partition(|waiting| {
                (may_wait_for_device || waiting.what.free_cost() == FreeCost::None)
                    && waiting.is_done()
            });
            *all = rest;
            done
        };
        // Outside of the lock: freeing may retire something else.
        done.into_iter().for_each(|waiting| waiting.free(context));
    }

    /// Frees everything, after what other devices still do with it. The device is idle or lost.
    pub(crate) fn reclaim_all(&self, context: &Context) {
        loop {
            let all = std::mem::take(&mut *lock(&self.waiting));
            if all.is_empty() {
                return;
            }
            // Other devices may still be using it. An error means that their context is lost: nothing runs there any more.
            for event in all.iter().flat_map(|waiting| &waiting.events) {
                let _ = event.wait();
            }
            all.into_iter().for_each(|waiting| waiting.free(context));
        }
    }
}

impl Waiting {
    fn is_done(&self) -> bool {
        // An error means that the context is lost: done then too.
        self.events
            .iter()
            .all(|event| event.is_done().unwrap_or(true))
    }

    fn free(self, context: &Context) {
        drop(self.events);
        // The events may have been another device's.
        let freed = context.bind().and_then(|()| self.what.free(context));
        context.report_drop(freed);
    }
}
