//! Fills a record of the panic log from the panicking thread.

use core::panic::Location;

use super::{COMPLETE, KERNEL_BITS, PanicLog, PanicRecord, RECORDS, UNRECORDED};
use crate::{block, fence, grid, thread};

unsafe extern "C" {
    /// The address of the launch's [`PanicLog`], 0 for none. The PTX linker puts a parameter of the entry in the place of a call.
    safe fn __warpsmith_panic_log() -> u64;
    /// The launch's id, as [`__warpsmith_panic_log`].
    safe fn __warpsmith_launch() -> u64;
}

/// Records a panic by its location alone.
#[cold]
#[inline(never)]
#[cfg(warpsmith_panic = "location")]
pub(super) fn without_message(location: Option<&Location<'_>>) {
    if let Some(report) = Report::begin(location) {
        report.finish();
    }
}

/// Records a panic with its message.
#[cold]
#[inline(never)]
#[cfg(warpsmith_panic = "message")]
pub(super) fn with_message(
    location: Option<&Location<'_>>,
    message: &core::panic::PanicMessage<'_>,
) {
    let Some(mut report) = Report::begin(location) else {
        return;
    };
    match message.as_str() {
        Some(text) => _ = report.message.push(text.as_bytes()),
        // Running out of space ends the message, which is what is wanted.
        None => _ = core::fmt::Write::write_fmt(&mut report.message, format_args!("{message}")),
    }
    report.finish();
}

/// The record, claimed by this thread.
pub(super) struct Report {
    record: *mut PanicRecord,
    /// To be filled by the caller.
    pub(super) message: Text,
}

impl Report {
    /// Claims the record and fills it up to the message, if there is one and no other thread has claimed it.
    ///
    /// Inlined around a call that returns one word: a struct returned through memory would give every kernel a stack.
    #[inline(always)]
    pub(super) fn begin(location: Option<&Location<'_>>) -> Option<Report> {
        let record = Report::claim(location);
        if record.is_null() {
            return None;
        }
        // SAFETY: the record is this thread's, and stays until it is given to the host.
        let message = unsafe { Text::new((&raw mut (*record).message).cast(), 512) };
        Some(Report { record, message })
    }

    /// The record, filled up to the message; null if there is none or another thread of the launch has one.
    #[cold]
    #[inline(never)]
    fn claim(location: Option<&Location<'_>>) -> *mut PanicRecord {
        let log = __warpsmith_panic_log() as *mut PanicLog;
        if log.is_null() {
            return core::ptr::null_mut();
        }
        // SAFETY: the launcher passes 0 or the address of a log that it keeps until the launch is done. A record is left to the thread that
        // wins the exchange until its state is complete.
        unsafe {
            let graph_launch = u64::from((&raw const (*log).graph_launch).read_volatile());
            let launch = __warpsmith_launch() | graph_launch << KERNEL_BITS;
            // Where the grid is to stop, each thread looks for the record, which it waits for; and no launch follows.
            if !super::stops_the_grid() && replace(&raw mut (*log).last_claim, launch) == launch {
                return core::ptr::null_mut();
            }
            let mut record = (&raw mut (*log).records).cast::<PanicRecord>();
            let end = record.add(RECORDS);
            loop {
                let holder = exchange(&raw mut (*record).launch, 0, launch);
                if holder == 0 {
                    break;
                }
                // Another thread's: the grid is to stop, or kernels of one graph panic beside each other.
                if holder == launch {
                    // A trap would stop the thread that fills the record.
                    while super::stops_the_grid()
                        && (&raw const (*record).state).read_volatile() != COMPLETE
                    {
                    }
                    return core::ptr::null_mut();
                }
                record = record.add(1);
                if record == end {
                    note(log, launch);
                    return core::ptr::null_mut();
                }
            }
            write(&raw mut (*record).block, block::idx());
            write(&raw mut (*record).thread, thread::idx());
            write(&raw mut (*record).grid_dim, grid::dim());
            write(&raw mut (*record).block_dim, block::dim());
            if let Some(location) = location {
                (&raw mut (*record).line).write_volatile(location.line());
                (&raw mut (*record).column).write_volatile(location.column());
                let mut file = Text::new((&raw mut (*record).file).cast(), 256);
                // A path's end says more than its beginning.
                let name = location.file().as_bytes();
                file.push(
                    name.get(name.len().saturating_sub(256)..)
                        .unwrap_or_default(),
                );
                (&raw mut (*record).file_len).write_volatile(file.length);
            }
            record
        }
    }

    /// Gives the record to the host.
    #[inline(always)]
    pub(super) fn finish(self) {
        // SAFETY: the record is this thread's from its claim until the state is complete; the fences put the state's store after all others, and let the host see it before
        // the kernel's end.
        unsafe {
            (&raw mut (*self.record).message_len).write_volatile(self.message.length);
            fence::system();
            (&raw mut (*self.record).state).write_volatile(COMPLETE);
            fence::system();
        }
    }
}

/// Notes a launch that found no free record.
///
/// # Safety
/// `log` is the address of a log that is kept until the launch is done.
unsafe fn note(log: *mut PanicLog, launch: u64) {
    // SAFETY: the log is kept, by the function's condition, and its words are changed as wholes.
    unsafe {
        let mut place = (&raw mut (*log).unrecorded).cast::<u64>();
        let end = place.add(UNRECORDED);
        while place != end {
            let holder = exchange(place, 0, launch);
            if holder == 0 || holder == launch {
                fence::system();
                return;
            }
            place = place.add(1);
        }
        exchange(&raw mut (*log).first_unnoted, 0, launch);
        maximum(&raw mut (*log).last_unnoted, launch);
        fence::system();
    }
}

/// Writes three numbers one by one: an array would pass through local memory.
///
/// # Safety
/// `to` is valid for writes and aligned.
#[inline(always)]
unsafe fn write(to: *mut [u32; 3], (x, y, z): (u32, u32, u32)) {
    for (i, number) in [x, y, z].into_iter().enumerate() {
        // SAFETY: `to` is valid for writes of three numbers, by the function's condition, and `i` is below 3.
        unsafe { to.cast::<u32>().add(i).write_volatile(number) };
    }
}

/// Compare and exchange, visible to the host too; gives what was there.
///
/// # Safety
/// `at` is valid and aligned.
unsafe fn exchange(at: *mut u64, expected: u64, new: u64) -> u64 {
    let old: u64;
    // SAFETY: `at` is valid and aligned, by the function's condition.
    unsafe {
        core::arch::asm!("atom.acq_rel.sys.cas.b64 {o}, [{a}], {e}, {n};",
            o = out(reg64) old, a = in(reg64) at, e = in(reg64) expected, n = in(reg64) new);
    }
    old
}

/// Exchange, visible to the host too; gives what was there.
///
/// # Safety
/// `at` is valid and aligned.
unsafe fn replace(at: *mut u64, new: u64) -> u64 {
    let old: u64;
    // SAFETY: `at` is valid and aligned, by the function's condition.
    unsafe {
        core::arch::asm!("atom.relaxed.sys.exch.b64 {o}, [{a}], {n};",
            o = out(reg64) old, a = in(reg64) at, n = in(reg64) new);
    }
    old
}

/// Raises a number to this one, visible to the host too.
///
/// # Safety
/// `at` is valid and aligned.
unsafe fn maximum(at: *mut u64, number: u64) {
    // SAFETY: `at` is valid and aligned, by the function's condition.
    unsafe {
        core::arch::asm!("red.relaxed.sys.max.u64 [{a}], {n};", a = in(reg64) at, n = in(reg64) number);
    }
}

/// A text of bounded length in the record.
pub(super) struct Text {
    bytes: *mut u8,
    length: u32,
    capacity: u32,
}

impl Text {
    /// # Safety
    /// `bytes` is valid for writes of `capacity` bytes for as long as this lives.
    unsafe fn new(bytes: *mut u8, capacity: u32) -> Text {
        Text {
            bytes,
            length: 0,
            capacity,
        }
    }

    /// Appends a byte if it fits.
    #[cfg(warpsmith_panic = "message")]
    #[inline(always)]
    pub(super) fn push_byte(&mut self, byte: u8) {
        if self.length < self.capacity {
            // SAFETY: `length` is below `capacity`, as was just compared: the byte lies in the text's memory.
            unsafe { self.bytes.add(self.length as usize).write_volatile(byte) };
            self.length += 1;
        }
    }

    /// Appends as much as fits; whether all of it did.
    #[inline(always)] // a text behind a reference would be in local memory
    pub(super) fn push(&mut self, text: &[u8]) -> bool {
        for &byte in text {
            if self.length >= self.capacity {
                return false;
            }
            // SAFETY: `length` is below `capacity`, as was just compared: the byte lies in the text's memory.
            unsafe { self.bytes.add(self.length as usize).write_volatile(byte) };
            self.length += 1;
        }
        true
    }
}

#[cfg(warpsmith_panic = "message")]
impl core::fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        if self.push(text.as_bytes()) {
            Ok(())
        } else {
            Err(core::fmt::Error)
        }
    }
}
