//! What went wrong on a device and no wait has reported yet.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, RwLock};

use crate::error::{Error, HostFunctionPanic, KernelPanic, Result};
use crate::sync::{lock, read, write};

/// Where kernels leave their panics.
pub(crate) trait KernelPanicSource: Send + Sync {
    /// The panic that is there, which nobody is told of again.
    fn take(&self) -> Option<KernelPanic>;
}

/// One for each device that is open. It does not keep the device open, so callbacks of the driver may own it.
#[derive(Default)]
pub(crate) struct WaitReports {
    sources: RwLock<Vec<Arc<dyn KernelPanicSource>>>,
    /// Panics from sources that are gone.
    kernel_panics: Mutex<VecDeque<KernelPanic>>,
    host_panics: Mutex<VecDeque<String>>,
}

impl WaitReports {
    /// Asks this source from here on at every wait.
    pub(crate) fn add_source(&self, source: Arc<dyn KernelPanicSource>) {
        write(&self.sources).push(source);
    }

    /// Asks the source a last time and no more; a panic that nobody has been told of stays known.
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
    /// A kernel's panic that nobody has been told of.
    pub(crate) fn take_kernel_panic(&self) -> Result<()> {
        let found = read(&self.sources).iter().find_map(|source| source.take());
        let found = found.or_else(|| lock(&self.kernel_panics).pop_front());
        found.map_or(Ok(()), |panic| Err(Error::KernelPanic(Box::new(panic))))
    }

    /// # Errors
    ///
    /// A host function's panic that nobody has been told of. `call` is the wait that tells.
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
