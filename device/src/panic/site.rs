//! Panics at places that the linker knows: the thread records the place's number, and the host has its text.
//!
//! The linker replaces a panic whose location is a constant, and whose message is one but for two values of at most 64 bits, by a call of
//! [`__warpsmith_panic_at`]; it then makes all of a function's calls one, and inlines it. So a kernel that can panic has no call in it,
//! and no text.

use core::mem::offset_of;

use super::{PanicRecord, claim};

/// Records a panic at the place of this number, with the values of its message, and ends the thread.
#[unsafe(no_mangle)]
fn __warpsmith_panic_at(site: u32, first: u64, second: u64) -> ! {
    let record = claim::claim();
    if record != 0 {
        let numbers = record + offset_of!(PanicRecord, numbers) as u64;
        // SAFETY: the record is this thread's from its claim until it is complete.
        unsafe {
            claim::store(numbers, first);
            claim::store(numbers + 8, second);
            claim::store_word(record + offset_of!(PanicRecord, site) as u64, site + 1);
            claim::note_thread(record);
            claim::complete(record);
        }
    }
    super::end()
}

/// The same of a range that is not one of a slice, which has three places, one after the other: its start is beyond the slice, its end is,
/// or it starts behind its end.
#[inline(always)]
#[unsafe(no_mangle)]
fn __warpsmith_panic_at_range(site: u32, start: u64, end: u64, len: u64) -> ! {
    if start > len {
        __warpsmith_panic_at(site, start, len)
    } else if end > len {
        __warpsmith_panic_at(site + 1, end, len)
    } else {
        __warpsmith_panic_at(site + 2, start, end)
    }
}
