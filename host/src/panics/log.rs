//! The memory of panic logs: page-locked, mapped, many to an allocation, used again by later streams and graphs.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use warpsmith_device::panic::{
    COMPLETE, KERNEL_BITS, PanicLog, PanicRecord, RECORDS, UNRECORDED, claim_word,
};
use warpsmith_driver::raw;

use crate::context::primary::Context;
use crate::driver_call::call;
use crate::error::Result;
use crate::sync::lock;

/// Logs of an allocation, which is then of less than 64 KiB.
const LOGS: usize = 16;

/// The logs that nobody uses.
#[derive(Default)]
pub(super) struct LogPool {
    free: Mutex<Vec<LogMemory>>,
}

/// One log. Whoever has it last gives it back to the pool.
pub(super) struct LogMemory {
    host: *mut PanicLog,
    device: u64,
    /// Frees the memory when all its logs are gone.
    _slab: Arc<Slab>,
}

// SAFETY: the log is reached by atomic and volatile accesses only; the slab, which any thread may free, is kept.
unsafe impl Send for LogMemory {}
// SAFETY: all methods may run beside each other: see `LogMemory::take`, the only one that changes more than one atomic word.
unsafe impl Sync for LogMemory {}

/// An allocation.
struct Slab {
    context: Arc<Context>,
    host: usize,
}

impl Drop for Slab {
    fn drop(&mut self) {
        let host = self.host;
        // SAFETY: `LogPool::get` allocated the memory, and no log of it is left: the streams and graphs that had them are done.
        self.context
            .destroy(move || unsafe { call!(cuMemFreeHost(host as *mut _)) });
    }
}

impl LogPool {
    /// An empty log.
    ///
    /// # Errors
    ///
    /// The driver has no more memory.
    pub(super) fn get(&self, context: &Arc<Context>) -> Result<LogMemory> {
        let mut free = lock(&self.free);
        if free.is_empty() {
            free.extend(allocate(context)?);
        }
        Ok(free.pop().expect("logs were allocated above"))
    }

    /// Takes a log back that nothing on the device uses.
    pub(super) fn put(&self, log: LogMemory) {
        // SAFETY: the log's memory lives with its slab, and nobody else reaches it: it was given back.
        unsafe { log.host.write_bytes(0, 1) };
        lock(&self.free).push(log);
    }
}

fn allocate(context: &Arc<Context>) -> Result<Vec<LogMemory>> {
    context.bind()?;
    let bytes = LOGS * size_of::<PanicLog>();
    let mut host = std::ptr::null_mut();
    let flags = raw::CU_MEMHOSTALLOC_DEVICEMAP | raw::CU_MEMHOSTALLOC_PORTABLE;
    // SAFETY: the driver writes one address to `host`, which outlives the call.
    unsafe { call!(cuMemHostAlloc(&mut host, bytes, flags)) }
        .map_err(|error| error.while_doing(|| "memory for panics".into()))?;
    let slab = Arc::new(Slab {
        context: context.clone(),
        host: host as usize,
    });
    let mut device = 0;
    // SAFETY: the driver writes one address to `device`, which outlives the call; `host` was allocated above, mapped.
    unsafe { call!(cuMemHostGetDevicePointer_v2(&mut device, host, 0)) }?;
    // SAFETY: the memory has `bytes` bytes, and nobody else knows it yet.
    unsafe { host.cast::<u8>().write_bytes(0, bytes) };
    let logs = (0..LOGS).map(|index| LogMemory {
        host: host.cast::<PanicLog>().wrapping_add(index),
        device: device + (index * size_of::<PanicLog>()) as u64,
        _slab: slab.clone(),
    });
    Ok(logs.collect())
}

/// What a log says of a launch that panicked.
pub(super) enum Entry {
    Recorded(Box<PanicRecord>),
    /// The id of a launch that found no free record.
    Unrecorded(u64),
    /// Launches that found no room at all: the first and the last id.
    Unnoted {
        first: u64,
        last: u64,
    },
}

impl Entry {
    /// The id of the launch.
    pub(super) fn id(&self) -> u64 {
        match self {
            Entry::Recorded(record) => record.launch,
            Entry::Unrecorded(id) | Entry::Unnoted { first: id, .. } => *id,
        }
    }
}

impl LogMemory {
    /// What a launch passes.
    pub(super) fn device_address(&self) -> u64 {
        self.device
    }

    /// The address of the word that says which launch of a graph runs.
    pub(super) fn graph_launch_address(&self) -> u64 {
        self.device + std::mem::offset_of!(PanicLog, graph_launch) as u64
    }

    /// The number of the launch of a graph that runs.
    pub(super) fn graph_launch(&self) -> u32 {
        self.graph_launch_word().load(Ordering::Acquire)
    }

    /// Sets that number while the graph does not run.
    pub(super) fn set_graph_launch(&self, number: u32) {
        self.graph_launch_word().store(number, Ordering::Release);
    }

    fn graph_launch_word(&self) -> &AtomicU32 {
        // SAFETY: the word is in memory that lives with `self`; device and host change it as a whole.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.host).graph_launch) }
    }

    /// Lets a launch of a graph with this id, which has claimed its place, claim one again.
    pub(super) fn forget_claim(&self, id: u64) {
        // SAFETY: the word is in memory that lives with `self`; device and host change it as a whole.
        let last = unsafe { AtomicU32::from_ptr(&raw mut (*self.host).last_claim) };
        let word = claim_word(id & ((1 << KERNEL_BITS) - 1), (id >> KERNEL_BITS) as u32);
        // Where it has changed, nothing is to be done.
        let _ = last.compare_exchange(word, 0, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Takes the entries that `is_wanted` says yes to, by the id of their launch. One thread at a time.
    pub(super) fn take(&self, is_wanted: impl Fn(u64) -> bool, mut found: impl FnMut(Entry)) {
        // SAFETY: the log lives with `self`; device and host change the word as a whole.
        let first = unsafe { AtomicU64::from_ptr(&raw mut (*self.host).first_unnoted) };
        // SAFETY: the log lives with `self`; device and host change the word as a whole.
        let last = unsafe { AtomicU64::from_ptr(&raw mut (*self.host).last_unnoted) };
        let records: *mut PanicRecord = self
            .host
            .wrapping_byte_add(std::mem::offset_of!(PanicLog, records))
            .cast();
        for index in 0..RECORDS {
            let record = records.wrapping_add(index);
            // SAFETY: the log, of which `record` is a part, lives with `self`; device and host change the word as a whole.
            let claimed_by = unsafe { AtomicU32::from_ptr(&raw mut (*record).claimed_by) };
            // SAFETY: the log, of which `record` is a part, lives with `self`; device and host change the word as a whole.
            let state = unsafe { AtomicU32::from_ptr(&raw mut (*record).state) };
            if state.load(Ordering::Acquire) != COMPLETE {
                // Free, or its launch runs: it was numbered and not enqueued when the wait began.
                continue;
            }
            // SAFETY: the record lives (see `claimed_by`), and is complete: the thread that claimed it does not write it any more.
            let complete = Box::new(unsafe { record.read_volatile() });
            if !is_wanted(complete.launch) {
                continue;
            }
            found(Entry::Recorded(complete));
            // All but the claim, which comes last: who claims the record anew finds it empty.
            let claim = std::mem::offset_of!(PanicRecord, claimed_by);
            let behind = claim + size_of::<u32>();
            // SAFETY: the record lives (see `claimed_by`), and is complete; a later launch does not write it before the claim is 0. Both pieces lie
            // in it.
            unsafe {
                record.cast::<u8>().write_bytes(0, claim);
                let rest = record.cast::<u8>().add(behind);
                rest.write_bytes(0, size_of::<PanicRecord>() - behind);
            }
            claimed_by.store(0, Ordering::Release);
        }
        for index in 0..UNRECORDED {
            // SAFETY: the log lives with `self`, and `index` is within the array; device and host change the word as a whole.
            let noted = unsafe { AtomicU64::from_ptr(&raw mut (*self.host).unrecorded[index]) };
            let id = noted.load(Ordering::Acquire);
            if id != 0 && is_wanted(id) {
                found(Entry::Unrecorded(id));
                noted.store(0, Ordering::Release);
            }
        }
        let (oldest, newest) = (first.load(Ordering::Acquire), last.load(Ordering::Acquire));
        if oldest == 0 || !is_wanted(oldest) {
            return;
        }
        found(Entry::Unnoted {
            first: oldest,
            last: newest,
        });
        // Those in between are not known one by one. As long as some may be outstanding each wait beyond the first hears of it.
        if is_wanted(newest.max(oldest)) {
            last.store(0, Ordering::Release);
            first.store(0, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::choice::DeviceChoice;

    /// A wait began before the launch was enqueued, and looks while a thread of the launch fills its record.
    #[test]
    fn a_record_that_is_being_filled_stays() -> Result<()> {
        warpsmith_driver::select(warpsmith_driver::Choice::Simulator).expect("the simulator");
        cust::init(cust::CudaFlags::empty()).expect("the simulator");
        let context = Arc::new(Context::new(DeviceChoice::Simulator)?);
        let log = LogPool::default().get(&context)?;
        let take = || {
            let mut found = Vec::new();
            log.take(|_| true, |entry| found.push(entry.id()));
            found
        };
        let host = log.host;
        // SAFETY: the log lives with `log`, and no kernel knows of it.
        let record = unsafe { &raw mut (*host).records[1] };
        // SAFETY: the log lives with `log`, and no kernel knows of it. Claimed and filled up to the line, as a thread of launch 7 does it.
        unsafe {
            (*record).claimed_by = 7;
            (*record).launch = 7;
            (*record).line = 12;
        }
        assert!(take().is_empty());
        // SAFETY: the log lives with `log`, and no kernel knows of it.
        let (launch, line) = unsafe { ((*record).launch, (*record).line) };
        assert_eq!((launch, line), (7, 12), "not cleared while it is filled");
        // SAFETY: the log lives with `log`, and no kernel knows of it. The thread is done.
        unsafe { (*record).state = COMPLETE };
        assert_eq!(take(), [7]);
        assert!(take().is_empty());
        // SAFETY: the log lives with `log`, and no kernel knows of it.
        assert_eq!(unsafe { (*record).line }, 0);
        Ok(())
    }
}
