//! A stream's own way to free memory of pools and to allocate the next, beside the device's order lock.
//!
//! A buffer that was only ever used in the stream that made it is freed by one call in that stream. All that may not come between is the
//! beginning of a capture, which would make the call part of a graph: whoever frees in the lane holds it, and a capture shuts it first.
//! What describes the memory is kept for the stream's next allocation, with the shares of device and stream that it has, so that an
//! allocation and its free touch no count of owners and no heap.

use std::any::Any;
use std::panic::RefUnwindSafe;
use std::sync::Arc;

use smallvec::SmallVec;
use spin::Yield;
use spin::mutex::{SpinMutex, SpinMutexGuard};
use warpsmith_driver::raw;

use crate::driver_call::handle::Handle;

/// As many blocks are kept as a program is likely to free before it allocates again.
const MOST_KEPT: usize = 8;

/// What is kept: the memory floor's, which this one does not know.
pub(crate) type Kept = Arc<dyn Any + Send + Sync>;

/// One for each stream, of whose life it knows nothing. It is held for the time of one call of the driver, so that waiting for it is
/// yielding.
pub(crate) struct PoolLane {
    stream: Handle<raw::CUstream>,
    /// The stream's number.
    number: u64,
    state: SpinMutex<State, Yield>,
}

#[derive(Default)]
struct State {
    /// The stream is captured.
    is_shut: bool,
    /// The stream's owner is gone. What is kept has shares of the stream, so nothing is kept any more.
    is_closed: bool,
    kept: SmallVec<[Kept; MOST_KEPT]>,
}

/// Nothing that is done with the lock held panics, so that no section ends halfway.
impl RefUnwindSafe for PoolLane {}

impl std::fmt::Debug for PoolLane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PoolLane({})", self.number)
    }
}

/// The lane, held: its stream is not captured, and stays so.
pub(crate) struct HeldLane<'a>(SpinMutexGuard<'a, State, Yield>);

impl PoolLane {
    /// That of the stream with this handle and number.
    pub(crate) fn new(stream: Handle<raw::CUstream>, number: u64) -> PoolLane {
        PoolLane {
            stream,
            number,
            state: SpinMutex::default(),
        }
    }

    /// The stream's handle. Whoever has the lane does not own the stream.
    #[inline]
    pub(crate) fn stream(&self) -> raw::CUstream {
        self.stream.raw()
    }

    /// The stream's number.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Holds the lane; `None` while somebody else does, and while the stream is captured.
    #[inline]
    pub(crate) fn try_hold(&self) -> Option<HeldLane<'_>> {
        let state = self.state.try_lock()?;
        (!state.is_shut).then_some(HeldLane(state))
    }

    /// Takes a block that is kept.
    #[inline]
    pub(crate) fn take(&self) -> Option<Kept> {
        self.state.try_lock()?.kept.pop()
    }

    /// Keeps everybody out from here on, after whoever holds it, or opens it again.
    pub(crate) fn shut(&self, is_shut: bool) {
        self.state.lock().is_shut = is_shut;
    }

    /// Drops what is kept, and keeps nothing from here on.
    pub(crate) fn close(&self) {
        let kept = {
            let mut state = self.state.lock();
            state.is_closed = true;
            std::mem::take(&mut state.kept)
        };
        drop(kept);
    }
}

impl HeldLane<'_> {
    /// Keeps a block, and gives the lane back; a block that there is no room for comes back.
    #[inline]
    pub(crate) fn keep(mut self, block: Kept) -> Option<Kept> {
        if self.0.is_closed || self.0.kept.len() == MOST_KEPT {
            return Some(block);
        }
        self.0.kept.push(block);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane() -> PoolLane {
        PoolLane::new(Handle::new(std::ptr::null_mut()), 1)
    }

    /// Whether the block was kept.
    fn keep(lane: &PoolLane, block: Kept) -> bool {
        lane.try_hold()
            .is_some_and(|held| held.keep(block).is_none())
    }

    #[test]
    fn a_closed_lane_keeps_nothing() {
        let lane = lane();
        let block: Arc<u32> = Arc::new(7);
        let held = lane.try_hold().expect("nobody holds it");
        assert!(lane.try_hold().is_none() && lane.take().is_none());
        assert!(held.keep(block.clone()).is_none());
        let kept = lane.take().expect("one is kept").downcast::<u32>();
        let kept = kept.expect("it is a number");
        assert!(Arc::ptr_eq(&kept, &block));
        assert!(keep(&lane, kept));
        assert_eq!(Arc::strong_count(&block), 2);
        lane.close();
        assert_eq!(Arc::strong_count(&block), 1);
        assert!(!keep(&lane, block));
    }

    #[test]
    fn so_many_are_kept_and_no_more() {
        let lane = lane();
        assert!((0..MOST_KEPT).all(|number| keep(&lane, Arc::new(number))));
        assert!(!keep(&lane, Arc::new(())));
        assert!(lane.take().is_some());
        assert!(keep(&lane, Arc::new(())));
    }

    #[test]
    fn a_captured_stream_keeps_everybody_out() {
        let lane = lane();
        lane.shut(true);
        assert!(lane.try_hold().is_none());
        lane.shut(false);
        assert!(lane.try_hold().is_some());
    }

    /// Whoever shuts the lane waits for those that are in it.
    #[test]
    fn shutting_waits() {
        let lane = Arc::new(lane());
        let held = lane.try_hold();
        let other = std::thread::spawn({
            let lane = lane.clone();
            move || lane.shut(true)
        });
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!other.is_finished());
        drop(held);
        other.join().expect("it does not panic");
        assert!(lane.try_hold().is_none());
    }
}
