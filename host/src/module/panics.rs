//! Panics of kernels. The kernel writes a record to host memory and its thread ends; here it is read at every wait and becomes an
//! error. The context lives on.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use warpsmith_device::panic::{COMPLETE, EMPTY, PanicRecord, RECORD_SYMBOL};

use crate::context::{GpuInner, lock};
use crate::error::{Error, KernelPanic, Result};
use crate::gpu::Gpu;
use crate::memory::allocation::host_memory;
use crate::reclaim::HostBlock;

/// The record of one module, and what is needed to say which kernel it was.
///
/// It outlives the module until all work is done that may write it, as part of what waits in [`crate::reclaim`], and holds nothing
/// that would keep the device open.
pub(crate) struct PanicSlot {
    record: *mut PanicRecord,
    memory: HostBlock,
    launches: Launches,
    /// The module's kernels by the number under which `launches` knows them.
    names: std::sync::RwLock<Vec<String>>,
}

// SAFETY: the record is read and reset by volatile accesses in the order of the device's protocol.
unsafe impl Send for PanicSlot {}
// SAFETY: as above.
unsafe impl Sync for PanicSlot {}

/// The module's variable that holds the record's address.
pub(crate) const VARIABLE: &str = RECORD_SYMBOL;

impl PanicSlot {
    pub(crate) fn new(gpu: &Gpu) -> Result<PanicSlot> {
        let memory = host_memory(&gpu.inner, size_of::<PanicRecord>(), true)?;
        Ok(PanicSlot {
            record: memory.host.cast(),
            memory,
            launches: Launches::default(),
            names: Default::default(),
        })
    }

    /// What the module's `__warpsmith_panic` must hold.
    pub(crate) fn device_address(&self) -> u64 {
        self.memory.device
    }

    /// The number of a kernel for [`launched`](Self::launched).
    pub(crate) fn number(&self, name: &str) -> u32 {
        let mut names = self.names.write().unwrap_or_else(PoisonError::into_inner);
        let place = names
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| {
                names.push(name.into());
                names.len() - 1
            });
        place as u32
    }

    #[inline]
    pub(crate) fn launched(&self, kernel: u32, grid: [u32; 3], block: [u32; 3]) {
        self.launches.note(kernel, grid, block);
    }

    /// The record's memory, for freeing it.
    pub(crate) fn memory(&self) -> HostBlock {
        self.memory
    }

    fn take(&self) -> Option<KernelPanic> {
        // SAFETY: the record is freed after the slot left the device's list, under whose lock this runs. The device writes `state` last, after a system fence.
        let state = unsafe { AtomicU32::from_ptr(&raw mut (*self.record).state) };
        if state.load(Ordering::Acquire) != COMPLETE {
            return None;
        }
        // SAFETY: complete, and nobody claims it before the reset below.
        let record = unsafe { self.record.read_volatile() };
        // SAFETY: as above.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.record).stop) }.store(0, Ordering::Relaxed);
        state.store(EMPTY, Ordering::Release);
        let candidates = self.launches.matching(record.grid_dim, record.block_dim);
        let names = self.names.read().unwrap_or_else(PoisonError::into_inner);
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
            message: record.message().into(),
            file: record.file().into(),
            line: record.line,
            column: record.column,
            block: record.block,
            thread: record.thread,
            grid_dim: record.grid_dim,
            block_dim: record.block_dim,
        })
    }
}

impl GpuInner {
    /// The first panic that nobody has been told of.
    pub(crate) fn take_kernel_panic(&self) -> Result<()> {
        let found = {
            let slots = self.panics.read().unwrap_or_else(PoisonError::into_inner);
            slots.iter().find_map(|slot| slot.take())
        };
        let found = found.or_else(|| lock(&self.late_panics).pop());
        found.map_or(Ok(()), |panic| Err(Error::KernelPanic(Box::new(panic))))
    }

    pub(crate) fn watch(&self, slot: &Arc<PanicSlot>) {
        self.panics
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(slot.clone());
    }

    /// Takes the slot off the list; a panic that nobody has been told of stays known.
    pub(crate) fn unwatch(&self, slot: &Arc<PanicSlot>) {
        self.panics
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|other| !Arc::ptr_eq(other, slot));
        lock(&self.late_panics).extend(slot.take());
    }
}

const REMEMBERED: usize = 64;

/// The last launches of a module: a ring without a lock. A torn entry could at worst name a wrong candidate.
struct Launches {
    next: AtomicU64,
    entries: [[AtomicU64; 4]; REMEMBERED],
}

impl Default for Launches {
    fn default() -> Self {
        Launches {
            next: AtomicU64::new(0),
            entries: std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(0))),
        }
    }
}

/// One launch in four words; no word of a launch is 0 in its first half, so an empty entry matches nothing.
fn encode(kernel: u32, grid: [u32; 3], block: [u32; 3]) -> [u64; 4] {
    let pair = |a: u32, b: u32| u64::from(a) | u64::from(b) << 32;
    [
        pair(kernel.wrapping_add(1), grid[0]),
        pair(grid[1], grid[2]),
        pair(block[0], block[1]),
        u64::from(block[2]),
    ]
}

impl Launches {
    #[inline]
    fn note(&self, kernel: u32, grid: [u32; 3], block: [u32; 3]) {
        let entry = &self.entries[self.next.fetch_add(1, Ordering::Relaxed) as usize % REMEMBERED];
        for (place, word) in entry.iter().zip(encode(kernel, grid, block)) {
            place.store(word, Ordering::Relaxed);
        }
    }

    /// The kernels launched in this shape, the last one first.
    fn matching(&self, grid: [u32; 3], block: [u32; 3]) -> Vec<u32> {
        let next = self.next.load(Ordering::Relaxed);
        let mut kernels = Vec::new();
        for back in 1..=(next.min(REMEMBERED as u64)) {
            let entry = &self.entries[(next - back) as usize % REMEMBERED];
            let words: [u64; 4] = std::array::from_fn(|i| entry[i].load(Ordering::Relaxed));
            let kernel = (words[0] as u32).wrapping_sub(1);
            if words == encode(kernel, grid, block) && !kernels.contains(&kernel) {
                kernels.push(kernel);
            }
        }
        kernels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_told_by_the_shape_of_its_launch() {
        let launches = Launches::default();
        for _ in 0..100 {
            launches.note(0, [1, 1, 1], [32, 1, 1]);
        }
        launches.note(1, [9, 1, 1], [64, 1, 1]);
        launches.note(2, [9, 1, 1], [64, 1, 1]);
        assert_eq!(launches.matching([1, 1, 1], [32, 1, 1]), [0]);
        assert_eq!(launches.matching([9, 1, 1], [64, 1, 1]), [2, 1]);
        assert!(launches.matching([9, 1, 1], [65, 1, 1]).is_empty());
    }
}
