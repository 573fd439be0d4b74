//! Whether the driver is initialised, and each device's primary context.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::state::{CONTEXTS, Context};
use crate::device;
use crate::error::{Result, code};

static INITIALISED: AtomicBool = AtomicBool::new(false);

/// `cuInit`.
pub(crate) fn initialise() {
    INITIALISED.store(true, Ordering::Release);
}

/// Whether `cuInit` has been called.
#[inline]
pub(crate) fn is_initialised() -> bool {
    INITIALISED.load(Ordering::Acquire)
}

/// A device's primary context; inactive until it is retained.
pub(crate) fn primary(device: usize) -> Result<&'static Arc<Context>> {
    static PRIMARY: OnceLock<Vec<Arc<Context>>> = OnceLock::new();
    let all = PRIMARY.get_or_init(|| {
        (0..device::count())
            .map(|device| CONTEXTS.add(|handle| Context::primary(handle, device)))
            .collect()
    });
    all.get(device).ok_or(code::INVALID_DEVICE)
}
