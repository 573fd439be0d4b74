//! The limits of `cuCtxSetLimit`.

use crate::device;

/// The limits of one context, in bytes but for `pending_launches`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) stack: usize,
    pub(crate) printf_fifo: usize,
    pub(crate) malloc_heap: usize,
    pub(crate) pending_launches: usize,
    pub(crate) max_l2_fetch: usize,
    pub(crate) persisting_l2: usize,
}

impl Limits {
    /// What a context of a device starts with.
    pub(crate) fn of_device(device: usize) -> Self {
        let profile = device::profile(device);
        Self {
            stack: profile.stack_limit,
            printf_fifo: profile.printf_fifo,
            malloc_heap: profile.malloc_heap,
            pending_launches: profile.pending_launches,
            max_l2_fetch: profile.max_l2_fetch,
            persisting_l2: profile.persisting_l2,
        }
    }
}
