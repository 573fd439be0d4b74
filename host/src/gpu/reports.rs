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

#[cfg(test)]
mod tests {
    use super::*;

    struct Source(Mutex<Option<KernelPanic>>);

    impl KernelPanicSource for Source {
        fn take(&self) -> Option<KernelPanic> {
            lock(&self.0).take()
        }
    }

    fn source(message: &str) -> Arc<dyn KernelPanicSource> {
        Arc::new(Source(Mutex::new(Some(KernelPanic {
            kernel: "kernel".into(),
            message: message.into(),
            file: "file".into(),
            line: 1,
            column: 1,
            block: [0; 3],
            thread: [0; 3],
            grid_dim: [1; 3],
            block_dim: [1; 3],
        }))))
    }

    fn next(reports: &WaitReports) -> Option<String> {
        let error = reports.take_kernel_panic().err()?;
        Some(error.panic().expect("a kernel's panic").message.clone())
    }

    #[test]
    fn a_panic_is_reported_once_also_when_its_source_is_removed() {
        let reports = WaitReports::default();
        let (stays, removed) = (source("stays"), source("removed"));
        reports.add_source(stays);
        reports.add_source(removed.clone());
        reports.remove_source(&removed);
        assert_eq!(next(&reports).as_deref(), Some("stays"));
        assert_eq!(next(&reports).as_deref(), Some("removed"));
        assert_eq!(next(&reports), None);
    }

    #[test]
    fn host_panics_are_reported_in_their_order() {
        let reports = WaitReports::default();
        reports.add_host_panic("first".into());
        reports.add_host_panic("second".into());
        for message in ["first", "second"] {
            let error = reports.take_host_panic("cuStreamSynchronize").unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
        assert!(reports.take_host_panic("cuStreamSynchronize").is_ok());
    }
}
