//! Panics of kernels. The kernel writes a record to host memory and its thread ends; here it is read at every wait and becomes an
//! error. The context lives on.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, RwLock};

use warpsmith_device::panic::{COMPLETE, EMPTY, PanicRecord, RECORD_SYMBOL};

use super::launch_log::LaunchLog;
use crate::error::{KernelPanic, Result};
use crate::gpu::Gpu;
use crate::gpu::reports::KernelPanicSource;
use crate::memory::host_block::{HostBlock, HostMapping};
use crate::sync::{lock, read, write};

/// The record of one module, and what is needed to say which kernel it was.
///
/// It outlives the module until all work is done that may write it, as part of what waits in [`crate::reclaim`], and holds nothing
/// that would keep the device open.
pub(crate) struct PanicSlot {
    /// Held while the record is taken, by one wait at a time.
    taking: Mutex<()>,
    memory: HostBlock,
    launches: LaunchLog,
    /// The module's kernels by the number under which `launches` knows them.
    names: RwLock<Vec<String>>,
}

/// The module's variable that holds the record's address.
pub(crate) const VARIABLE: &str = RECORD_SYMBOL;

impl PanicSlot {
    pub(crate) fn new(gpu: &Gpu) -> Result<PanicSlot> {
        let memory = HostBlock::zeroed(&gpu.inner, size_of::<PanicRecord>(), HostMapping::Mapped)?;
        Ok(PanicSlot {
            taking: Mutex::new(()),
            memory,
            launches: LaunchLog::default(),
            names: Default::default(),
        })
    }

    /// What the module's `__warpsmith_panic` must hold.
    pub(crate) fn device_address(&self) -> u64 {
        self.memory.device.expect("allocated as mapped memory")
    }

    /// The number of a kernel for [`launched`](Self::launched).
    pub(crate) fn number(&self, name: &str) -> u32 {
        let mut names = write(&self.names);
        let index = names
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| {
                names.push(name.into());
                names.len() - 1
            });
        index as u32
    }

    #[inline]
    pub(crate) fn launched(&self, kernel: u32, grid: [u32; 3], block: [u32; 3]) {
        self.launches.note(kernel, grid, block);
    }

    /// The record's memory, for freeing it.
    pub(crate) fn memory(&self) -> HostBlock {
        self.memory
    }
}

impl KernelPanicSource for PanicSlot {
    fn take(&self) -> Option<KernelPanic> {
        let _taking = lock(&self.taking);
        let record: *mut PanicRecord = self.memory.host.cast();
        // SAFETY: the record is page-locked memory that `RetiredModule::free` gives back after the slot left the list of sources and was
        // asked a last time. The device writes `state` last, after a system fence, and the host reads it as an atomic.
        let state = unsafe { AtomicU32::from_ptr(&raw mut (*record).state) };
        if state.load(Ordering::Acquire) != COMPLETE {
            return None;
        }
        // SAFETY: the record is alive (see `state` above); while its state is `COMPLETE` no thread of the device writes it, and only
        // this function, with `taking` locked, changes that state.
        let found = unsafe { record.read_volatile() };
        // SAFETY: the record is alive (see `state` above), and host and device access `stop` as an atomic only.
        unsafe { AtomicU32::from_ptr(&raw mut (*record).stop) }.store(0, Ordering::Relaxed);
        state.store(EMPTY, Ordering::Release);
        let candidates = self.launches.matching(found.grid_dim, found.block_dim);
        let names = read(&self.names);
        let kernels: Vec<&str> = candidates
            .iter()
            .filter_map(|&kernel| names.get(kernel as usize))
            .map(String::as_str)
            .collect();
        Some(KernelPanic {
            kernel: if kernels.is_empty() {
                "(unknown)".into()
            } else {
                kernels.join(" or ")
            },
            message: found.message().into(),
            file: found.file().into(),
            line: found.line,
            column: found.column,
            block: found.block,
            thread: found.thread,
            grid_dim: found.grid_dim,
            block_dim: found.block_dim,
        })
    }
}
