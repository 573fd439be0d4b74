//! Memory of pools that is freed in the stream it was allocated in, and what describes it there: kept for that stream's next allocation.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use warpsmith_driver::raw;

use super::allocation::{Allocation, NO_MEMORY};
use super::released::MemoryKind;
use crate::stream::Stream;

impl Allocation {
    /// Memory that the stream has just allocated, described by what is left of earlier memory of the stream's.
    #[inline]
    pub(super) fn of_freed_block(
        stream: &Stream,
        base: u64,
        bytes: usize,
    ) -> Option<Arc<Allocation>> {
        let block = stream.handle.lane().take()?.downcast::<Allocation>();
        let block = block.ok()?;
        block.base.store(base, Ordering::Relaxed);
        block.bytes.store(bytes, Ordering::Relaxed);
        block.history.begin_again(&stream.handle);
        Some(block)
    }

    /// Frees the memory of a buffer that is dropped: at once if nobody but the stream that made it has used it, else with its last owner
    /// and after all its uses.
    #[inline]
    pub(super) fn release(self: Arc<Allocation>) {
        let MemoryKind::Pool(lane) = &self.kind else {
            return;
        };
        // No weak shares are ever made. So nobody else has one, nor gets one: the buffer that had it is being dropped.
        let is_shared = Arc::strong_count(&self) != 1;
        let is_elsewhere = !self.history.is_owned_by(lane.number());
        let has_textures = self.textures.get().is_some();
        if is_shared || is_elsewhere || has_textures || !self.gpu.frees_plainly() {
            return;
        }
        // After all that those who had a share did to it.
        fence(Ordering::Acquire);
        // SAFETY: `self` has a share of the lane. It moves into the lane below, out of which others take it only when `held` is gone, behind
        // which the lane is not used.
        let lane = unsafe { &*Arc::as_ptr(lane) };
        let Some(held) = lane.try_hold() else {
            return;
        };
        let (base, stream) = (self.base(), lane.stream());
        // SAFETY: this was the memory's last user, and all its uses came before in the lane's stream, which owns it. Its history has a share of
        // that stream, which is not captured as long as the lane is held.
        let code = self
            .gpu
            .context()
            .call_in_stream(stream, move || unsafe { raw::cuMemFreeAsync(base, stream) });
        // An error is found, and reported, once more by the destructor of `Allocation`.
        if code.0 == 0 {
            self.base.store(NO_MEMORY, Ordering::Relaxed);
            drop(held.keep(self));
        }
    }
}
