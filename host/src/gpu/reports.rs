//! Panics on a device that no wait has reported yet.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, RwLock};

use crate::error::{Error, HostFunctionPanic, KernelPanic, Result};
use crate::sync::{lock, read, write};

/// Where kernels leave their panics.
pub(crate) trait KernelPanicSource: Send + Sync {
    /// Takes the panic, if there is one: it is reported once.
    fn take(&self) -> Option<KernelPanic>;
}

/// One for each device that is open. It does not keep the device open, so callbacks of the driver may own it.
#[derive(Default)]
pub(crate) struct WaitReports {
    sources: RwLock<Vec<Arc<dyn KernelPanicSource>>>,
    /// Panics of sources that were removed.
    kernel_panics: Mutex<VecDeque<KernelPanic>>,
    host_panics: Mutex<VecDeque<String>>,
}

impl WaitReports {
    /// Queries this source from here on at every wait.
    pub(crate) fn add_source(&self, source: Arc<dyn KernelPanicSource>) {
        write(&self.sources).push(source);
    }

    /// Queries the source a last time and removes it; a panic that was not reported yet is kept.
    pub(crate) fn remove_source(&self, source: &Arc<dyn KernelPanicSource>) {
        write(&self.sources).retain(|other| !Arc::ptr_eq(other, source));
        lock(&self.kernel_panics).extend(source.take());
    }

    /// Notes the panic of a function that a stream or a graph called.
    pub(crate) fn add_host_panic(&self, message: String) {
        lock(&self.host_panics).push_back(message);
    }

    /// # Errors
    ///
    /// A kernel's panic that was not reported yet.
    pub(crate) fn take_kernel_panic(&self) -> Result<()> {
        let found = read(&self.sources).iter().find_map(|source| source.take());
        let found = found.or_else(|| lock(&self.kernel_panics).pop_front());
        found.map_or(Ok(()), |panic| Err(Error::KernelPanic(Box::new(panic))))
    }

    /// # Errors
    ///
    /// A host function's panic that was not reported yet. `call` is the wait that reports it.
    pub(crate) fn take_host_panic(&self, call: &'static str) -> Result<()> {
        match lock(&self.host_panics).pop_front() {
            None => Ok(()),
            Some(message) => Err(Error::HostFunctionPanic(Box::new(HostFunctionPanic {
                call,
                message,
            }))),
        }
    }
}
