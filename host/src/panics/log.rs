//! The memory of panic logs: page-locked, mapped, many to an allocation, used again by later streams and graphs.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use warpsmith_device::panic::{
    COMPLETE, KERNEL_BITS, PanicLog, PanicRecord, PanicText, RECORDS, TEXTS, claim_word,
};
use warpsmith_driver::raw;

use crate::context::primary::Context;
use crate::driver_call::call;
use crate::error::Result;
use crate::sync::lock;

/// Logs of an allocation, which is then of less than 64 KiB.
const LOGS: usize = 7;
const _: () = assert!(LOGS * size_of::<PanicLog>() < 64 << 10);

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

/// What a log says of launches that panicked.
pub(super) enum Entry {
    /// One, with its text if it has one.
    Recorded(Box<(PanicRecord, Option<PanicText>)>),
    /// Those that found no free record: the ids of the first and of the last, both with the number of the kernel of one of them.
    Unrecorded { first: u64, last: u64 },
}

impl Entry {
    /// The id of the launch, or of the first.
    pub(super) fn id(&self) -> u64 {
        match self {
            Entry::Recorded(recorded) => recorded.0.launch_id(),
            Entry::Unrecorded { first, .. } => *first,
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

    /// Lets launches of a graph, which have claimed their places, claim them again: that of the entry, or all that found no record.
    pub(super) fn forget_claim(&self, entry: &Entry) {
        // SAFETY: the word is in memory that lives with `self`; device and host change it as a whole.
        let last = unsafe { AtomicU32::from_ptr(&raw mut (*self.host).last_claim) };
        match entry {
            Entry::Recorded(_) => {
                let id = entry.id();
                let word = claim_word(id & ((1 << KERNEL_BITS) - 1), (id >> KERNEL_BITS) as u32);
                // Where it has changed, nothing is to be done.
                let _ = last.compare_exchange(word, 0, Ordering::AcqRel, Ordering::Acquire);
            }
            Entry::Unrecorded { .. } => last.store(0, Ordering::Release),
        }
    }

    /// Takes the entries that `is_wanted` says yes to, by the id of their launch. One thread at a time. `newest` is the number of the last launch, by
    /// which those of 32 bits are told that the log has.
    pub(super) fn take(
        &self,
        newest: u64,
        is_wanted: impl Fn(u64) -> bool,
        mut found: impl FnMut(Entry),
    ) {
        for index in 0..RECORDS {
            self.take_record(index, &is_wanted, &mut found);
        }
        self.take_unrecorded(newest, is_wanted, found);
    }

    fn take_record(
        &self,
        index: usize,
        is_wanted: impl Fn(u64) -> bool,
        mut found: impl FnMut(Entry),
    ) {
        // SAFETY: the log lives with `self`, and `index` is within the array (the caller counts to its length); device and host change the word as a whole.
        let claim = unsafe { AtomicU32::from_ptr(&raw mut (*self.host).claims[index]) };
        if claim.load(Ordering::Acquire) == 0 {
            return;
        }
        // SAFETY: the log lives with `self`, and `index` is within the array, as for `claim`.
        let record = unsafe { &raw mut (*self.host).records[index] };
        // SAFETY: the record lives with `self`; device and host change the word as a whole.
        let state = unsafe { AtomicU32::from_ptr(&raw mut (*record).state) };
        if state.load(Ordering::Acquire) != COMPLETE {
            // Its launch runs: it was numbered and not enqueued when the wait began.
            return;
        }
        // SAFETY: the record lives with `self`, and is complete: the thread that claimed it does not write it any more.
        let complete = unsafe { record.read_volatile() };
        if !is_wanted(complete.launch_id()) {
            return;
        }
        let text = (complete.text as usize)
            .checked_sub(1)
            .filter(|text| *text < TEXTS)
            // SAFETY: the log lives with `self`, and the index was compared.
            .map(|text| unsafe { &raw mut (*self.host).texts[text] });
        // SAFETY: the text lives with `self`, and belongs to the record, which is complete: the thread does not write it any more.
        let read = text.map(|text| unsafe { text.read_volatile() });
        found(Entry::Recorded(Box::new((complete, read))));
        if let Some(text) = text {
            // SAFETY: the text lives with `self`; no other thread writes it before it is free, which it is by the store that follows.
            unsafe {
                let claimed = AtomicU32::from_ptr(&raw mut (*text).claimed);
                let behind = std::mem::offset_of!(PanicText, line);
                let rest = text.cast::<u8>().add(behind);
                rest.write_bytes(0, size_of::<PanicText>() - behind);
                claimed.store(0, Ordering::Release);
            }
        }
        // SAFETY: the record lives with `self`; a later launch does not write it before the claim is 0.
        unsafe { record.write_bytes(0, 1) };
        claim.store(0, Ordering::Release);
    }

    fn take_unrecorded(
        &self,
        newest: u64,
        is_wanted: impl Fn(u64) -> bool,
        mut found: impl FnMut(Entry),
    ) {
        // SAFETY: the log lives with `self`; device and host change each of the words as a whole.
        let [first, last, kernel] = unsafe {
            [
                AtomicU32::from_ptr(&raw mut (*self.host).first_unrecorded),
                AtomicU32::from_ptr(&raw mut (*self.host).last_unrecorded),
                AtomicU32::from_ptr(&raw mut (*self.host).unrecorded_kernel),
            ]
        };
        let latest = last.load(Ordering::Acquire);
        if latest == 0 {
            return;
        }
        // The first may have been forgotten while a launch beside noted itself.
        let earliest = match first.load(Ordering::Acquire) {
            0 => latest,
            complement => !complement,
        };
        let kernel = u64::from(kernel.load(Ordering::Acquire));
        let id = |number: u32| whole_number(number, newest) << KERNEL_BITS | kernel;
        let (earliest, latest_id) = (id(earliest), id(latest));
        if !is_wanted(earliest) {
            return;
        }
        found(Entry::Unrecorded {
            first: earliest,
            last: latest_id,
        });
        // Those in between are not known one by one. As long as some may be outstanding each wait beyond the first hears of it.
        if is_wanted(latest_id.max(earliest))
            && last
                .compare_exchange(latest, 0, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
        {
            first.store(0, Ordering::Release);
        }
    }
}

/// The launch number of which the log has the low half: the one nearest to `newest`, beyond which others may have been launched meanwhile.
fn whole_number(low: u32, newest: u64) -> u64 {
    let beyond = low.wrapping_sub(newest as u32).cast_signed();
    newest
        .checked_add_signed(beyond.into())
        .unwrap_or(low.into())
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
            log.take(7, |_| true, |entry| found.push(entry.id()));
            found
        };
        let host = log.host;
        // SAFETY: the log lives with `log`, and no kernel knows of it.
        let record = unsafe { &raw mut (*host).records[1] };
        // SAFETY: the log lives with `log`, and no kernel knows of it. Claimed and filled up to the place, as a thread of launch 7 does it.
        unsafe {
            (*host).claims[1] = 7;
            (*record).launch = 7;
            (*record).site = 12;
        }
        assert!(take().is_empty());
        // SAFETY: the log lives with `log`, and no kernel knows of it.
        let (launch, site) = unsafe { ((*record).launch, (*record).site) };
        assert_eq!((launch, site), (7, 12), "not cleared while it is filled");
        // SAFETY: the log lives with `log`, and no kernel knows of it. The thread is done.
        unsafe { (*record).state = COMPLETE };
        assert_eq!(take(), [7]);
        assert!(take().is_empty());
        // SAFETY: the log lives with `log`, and no kernel knows of it.
        let (site, claim) = unsafe { ((*record).site, (*host).claims[1]) };
        assert_eq!((site, claim), (0, 0));
        Ok(())
    }

    #[test]
    fn numbers_are_told_by_the_newest() {
        assert_eq!(whole_number(5, 9), 5);
        assert_eq!(whole_number(9, 9), 9);
        assert_eq!(whole_number(u32::MAX, 1 << 32), u64::from(u32::MAX));
        assert_eq!(whole_number(3, (7 << 32) + 3), (7 << 32) + 3);
        // Launched since.
        assert_eq!(whole_number(4, (7 << 32) + 3), (7 << 32) + 4);
        assert_eq!(whole_number(4, 3), 4);
    }
}
