//! What the driver knows: the process-wide state, contexts, and the registries that turn handles into objects.

pub(crate) mod code;
mod context;
pub(crate) mod device_memory;
mod process;
mod registry;

pub(crate) use context::{Context, current, current_unchecked, pop, push, set_current};
pub(crate) use process::{initialise, initialised, primary, registries};
pub(crate) use registry::{Registries, Registry};

use crate::abi::CUresult;

/// The result of a driver call.
pub(crate) type Result<T = ()> = core::result::Result<T, CUresult>;

/// Locks a mutex; a panic elsewhere leaves the data as it was.
pub(crate) fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
