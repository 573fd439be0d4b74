//! Objects that were dropped but may still be in use on the device: they wait here, each with events that are complete after its last
//! use, and are freed at a later wait or allocation. So no destructor blocks, and nothing is freed while it is used.
//!
//! Device memory is not among them, the driver frees it in stream order. Host memory, managed memory and modules are: to free those
//! the driver waits until the *whole* device is idle, and blocks every thread that calls it until then. So they are freed when all
//! streams are idle anyway, and host memory is reused for the next request of its size.

use std::any::Any;
use std::sync::{Arc, Mutex};

use crate::context::primary::{Context, is_loss};
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

    /// Whether there is a use of it that comes to an end with no event that it waits for. Of what is freed [on an idle device](FreeCost::OnIdleDevice):
    /// when that has ended, it waits once more, for all that was enqueued by then.
    fn is_in_use(&self) -> bool {
        false
    }

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
    /// A driver bears it only while the device is idle, and after events of all streams were waited for: stream-ordered frees, which are over only then
    /// to it, though all queries say that they are.
    OnIdleDevice,
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
    /// The events are of all streams, recorded when it was not in use any more.
    is_behind_all: bool,
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
        let events = context
            .bind()
            .and_then(|()| events_at(context, order, positions));
        self.wait_for(context, what, events);
    }

    /// Frees `what` some time after these events. Without them nobody knows when nothing uses it any more, so that it stays.
    fn wait_for(
        &self,
        context: &Context,
        what: Box<dyn Reclaim>,
        events: Result<Vec<Arc<RecordedEvent>>>,
    ) {
        match events {
            Ok(events) => lock(&self.waiting).push(Waiting {
                what,
                events,
                is_behind_all: false,
            }),
            Err(error) => {
                std::mem::forget(what);
                context.report_drop(Err(error));
            }
        }
    }

    /// As [`retire`](Self::retire), for objects that any stream may be using, those of this crate included.
    pub(crate) fn retire_from_all(
        &self,
        context: &Arc<Context>,
        order: &DeviceOrder,
        what: Box<dyn Reclaim>,
    ) {
        let events = context.bind().and_then(|()| events_of_all(context, order));
        self.wait_for(context, what, events);
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
    pub(crate) fn reclaim(&self, context: &Arc<Context>, order: &DeviceOrder) {
        if lock(&self.waiting).is_empty() {
            return;
        }
        // An error means that the context is lost.
        let idle = is_idle(context, order).unwrap_or(true);
        let done: Vec<Waiting> = {
            let mut all = lock(&self.waiting);
            let bytes: usize = all.iter().map(|waiting| waiting.what.bytes()).sum();
            let may_wait_for_device = idle || bytes > MOST_BYTES;
            let (done, rest) = all.drain(..).partition(|waiting| {
                let now = match waiting.what.free_cost() {
                    FreeCost::None => true,
                    FreeCost::WaitsForIdleDevice => may_wait_for_device,
                    FreeCost::OnIdleDevice => idle,
                };
                now && waiting.is_done()
            });
            *all = rest;
            done
        };
        // Outside of the lock: freeing may retire something else.
        for waiting in done {
            if let Some(waiting) = waiting.free_unless_in_use(context, order) {
                lock(&self.waiting).push(waiting);
            }
        }
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

/// Events at these positions, without those that are past.
///
/// # Errors
///
/// An event cannot be made. That a context is lost is none: nothing runs there any more.
fn events_at(
    context: &Context,
    order: &DeviceOrder,
    positions: &[StreamPosition],
) -> Result<Vec<Arc<RecordedEvent>>> {
    let guard = order.lock();
    let mut events = Vec::new();
    for position in positions {
        let event = position.to_event(&guard, Reach::default());
        events.extend(unless_lost(context, event)?.flatten());
    }
    Ok(events)
}

/// Events behind all that has been enqueued, in the streams of this crate, too, which follow others.
///
/// # Errors
///
/// Those of [`events_at`].
fn events_of_all(context: &Arc<Context>, order: &DeviceOrder) -> Result<Vec<Arc<RecordedEvent>>> {
    let streams = order.streams().into_iter();
    let positions: Vec<_> = streams.map(StreamPosition::End).collect();
    let mut events = events_at(context, order, &positions)?;
    let record = |stream| RecordedEvent::record(context, stream, Reach::default());
    let own = context
        .busy_own_streams()
        .and_then(|busy| busy.into_iter().map(record).collect::<Result<Vec<_>>>());
    events.extend(unless_lost(context, own)?.into_iter().flatten());
    Ok(events)
}

/// As [`events_of_all`], in idle streams, too.
///
/// # Errors
///
/// Those of [`events_at`].
fn events_behind_all(
    context: &Arc<Context>,
    order: &DeviceOrder,
) -> Result<Vec<Arc<RecordedEvent>>> {
    // Events of another device may have been asked before.
    context.bind()?;
    let guard = order.lock();
    let streams = order.streams();
    let of_streams = streams
        .iter()
        .map(|stream| stream.record_end(&guard, Reach::default()));
    let record = |stream| RecordedEvent::record(context, stream, Reach::default());
    let own = context.own_stream_refs().map(record);
    let events = of_streams
        .chain(own)
        .filter_map(|event| unless_lost(context, event).transpose());
    events.collect()
}

/// `None` if a context is lost, of which is told.
///
/// # Errors
///
/// All others.
fn unless_lost<T>(context: &Context, result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_loss(&error) => {
            context.report_drop(Err(error));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether the device has nothing to do, not even what this crate's streams are held back from by work of another device.
///
/// # Errors
///
/// An earlier fault on the device.
fn is_idle(context: &Context, order: &DeviceOrder) -> Result<bool> {
    Ok(order.is_idle(&order.lock())? && context.busy_own_streams()?.is_empty())
}

impl Waiting {
    fn is_done(&self) -> bool {
        // An error means that the context is lost: done then too.
        self.events
            .iter()
            .all(|event| event.is_done().unwrap_or(true))
    }

    /// Frees it, if nothing uses it; else it goes on waiting.
    fn free_unless_in_use(
        mut self,
        context: &Arc<Context>,
        order: &DeviceOrder,
    ) -> Option<Waiting> {
        if self.what.is_in_use() {
            self.is_behind_all = false;
            return Some(self);
        }
        if self.what.free_cost() == FreeCost::OnIdleDevice {
            if !self.is_behind_all {
                match events_behind_all(context, order) {
                    Ok(events) => self.events = events,
                    Err(error) => {
                        context.report_drop(Err(error));
                        return Some(self);
                    }
                }
                self.is_behind_all = true;
            }
            if !self.is_done() {
                return Some(self);
            }
            // They are done: this only tells the driver.
            for event in &self.events {
                context.report_drop(event.wait());
            }
        }
        self.free(context);
        None
    }

    fn free(self, context: &Context) {
        drop(self.events);
        // The events may have been another device's.
        let freed = context.bind().and_then(|()| self.what.free(context));
        context.report_drop(freed);
    }
}
