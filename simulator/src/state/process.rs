//! The process-wide state: whether the driver is initialised, the registries, and each device's primary context.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::{Context, Registries, Result, code};
use crate::device;

static INITIALISED: AtomicBool = AtomicBool::new(false);

/// `cuInit`.
pub(crate) fn initialise() {
    INITIALISED.store(true, Ordering::Release);
}

/// Whether `cuInit` has been called.
#[inline]
pub(crate) fn initialised() -> bool {
    INITIALISED.load(Ordering::Acquire)
}

/// The registries.
pub(crate) fn registries() -> &'static Registries {
    static REGISTRIES: OnceLock<Registries> = OnceLock::new();
    REGISTRIES.get_or_init(Registries::default)
}

/// A device's primary context; inactive until somebody retains it.
pub(crate) fn primary(device: usize) -> Result<&'static Arc<Context>> {
    static PRIMARY: OnceLock<Vec<Arc<Context>>> = OnceLock::new();
    let all = PRIMARY.get_or_init(|| {
        (0..device::count())
            .map(|device| {
                registries()
                    .contexts
                    .add(|handle| Context::primary(handle, device))
            })
            .collect()
    });
    all.get(device).ok_or(code::INVALID_DEVICE)
}
