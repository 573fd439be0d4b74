//! Claims a record of the panic log for the panicking thread, and says in it which thread that is.
//!
//! All of it is inlined into what records a panic, and nothing in it calls: a kernel with a call gets 32 registers at least. What it needs
//! of registers, every kernel does that can panic. So the claim is a word of 32 bits, what is passed with the launch is read again where it is
//! needed, and special registers are stored one by one.

use core::arch::asm;
use core::mem::offset_of;

use super::{COMPLETE, KERNEL_BITS, PanicLog, PanicRecord, RECORDS, UNRECORDED, claim_word};
use crate::fence;

unsafe extern "C" {
    /// The address of the launch's [`PanicLog`], 0 for none. The PTX linker puts a parameter of the entry in the place of a call.
    safe fn __warpsmith_panic_log() -> u64;
    /// The launch's id, as [`__warpsmith_panic_log`].
    safe fn __warpsmith_launch() -> u64;
}

/// The address of a record for this thread alone until it is [`complete`]; 0 if there is none, or another thread of the launch has one.
#[inline(always)]
pub(super) fn claim() -> u64 {
    let log = __warpsmith_panic_log();
    if log == 0 {
        return 0;
    }
    // SAFETY: the launcher passes 0 or the address of a log that it keeps until the launch is done. A record is left to the thread that
    // wins the exchange until its state is complete.
    unsafe {
        let word = claim_word(__warpsmith_launch(), graph_launch(log));
        // Where the grid is to stop, each thread looks for the record, which it waits for; and no launch follows.
        let last = log + offset_of!(PanicLog, last_claim) as u64;
        if !super::stops_the_grid() && replace(last, word) == word {
            return 0;
        }
        let mut record = log + offset_of!(PanicLog, records) as u64;
        let mut left = RECORDS;
        loop {
            let holder = exchange(record + offset_of!(PanicRecord, claimed_by) as u64, word);
            if holder == 0 {
                return record;
            }
            // Another thread's: the grid is to stop, or kernels of one graph panic beside each other.
            if holder == word {
                // A trap would stop the thread that fills the record.
                while super::stops_the_grid()
                    && load(record + offset_of!(PanicRecord, state) as u64) != COMPLETE
                {
                }
                return 0;
            }
            record += size_of::<PanicRecord>() as u64;
            left -= 1;
            if left == 0 {
                note(log);
                return 0;
            }
        }
    }
}

/// The number of the running launch of a graph.
///
/// # Safety
/// `log` is the address of a log that is kept until the launch is done.
#[inline(always)]
unsafe fn graph_launch(log: u64) -> u32 {
    // SAFETY: the log is kept, by the function's condition, and the word is changed as a whole.
    unsafe { load(log + offset_of!(PanicLog, graph_launch) as u64) }
}

/// The launch's id.
///
/// # Safety
/// As for [`graph_launch`].
#[inline(always)]
unsafe fn launch_id(log: u64) -> u64 {
    // SAFETY: this function's condition.
    __warpsmith_launch() | u64::from(unsafe { graph_launch(log) }) << KERNEL_BITS
}

/// Stores special registers behind each other. Each is read under a condition that always holds, into one and the same register: otherwise all
/// are read first, each into one of its own.
macro_rules! store_registers {
    ($record:expr, $($offset:literal = $register:literal),*) => {
        asm!(
            "{{ .reg .b32 %wregister; .reg .pred %walways; setp.ne.u64 %walways, {0}, 0; mov.u32 %wregister, 0;",
            $(
                concat!("@%walways mov.u32 %wregister, %", $register, ";"),
                concat!("st.relaxed.sys.global.u32 [{0}+", $offset, "], %wregister;"),
            )*
            "}}",
            in(reg64) $record,
        )
    };
}

/// Notes which launch it is, and where in the grid the thread.
///
/// # Safety
/// The record is this thread's.
#[inline(always)]
pub(super) unsafe fn note_thread(record: u64) {
    const {
        assert!(offset_of!(PanicRecord, block) == 32);
        assert!(offset_of!(PanicRecord, thread) == 44);
        assert!(offset_of!(PanicRecord, grid_dim) == 56);
        assert!(offset_of!(PanicRecord, block_dim) == 68);
    }
    // SAFETY: the record is this thread's, by the function's condition, and the places are those of its four triples; where there is a record
    // there is a log.
    unsafe {
        store_registers!(
            record,
            "32" = "ctaid.x",
            "36" = "ctaid.y",
            "40" = "ctaid.z",
            "44" = "tid.x",
            "48" = "tid.y",
            "52" = "tid.z",
            "56" = "nctaid.x",
            "60" = "nctaid.y",
            "64" = "nctaid.z",
            "68" = "ntid.x",
            "72" = "ntid.y",
            "76" = "ntid.z"
        );
        let launch = launch_id(__warpsmith_panic_log());
        store(record + offset_of!(PanicRecord, launch) as u64, launch);
    }
}

/// Gives the record to the host.
///
/// # Safety
/// The record is this thread's, which does not touch it any more.
#[inline(always)]
pub(super) unsafe fn complete(record: u64) {
    // SAFETY: the record is this thread's, by the function's condition; the fences put the state's store after all others, and let the host
    // see it before the kernel's end.
    unsafe {
        fence::system();
        store_word(record + offset_of!(PanicRecord, state) as u64, COMPLETE);
        fence::system();
    }
}

/// Notes a launch that found no free record.
///
/// # Safety
/// `log` is the address of a log that is kept until the launch is done.
#[inline(always)]
unsafe fn note(log: u64) {
    // SAFETY: the log is kept, by the function's condition, and its words are changed as wholes.
    unsafe {
        let launch = launch_id(log);
        let mut place = log + offset_of!(PanicLog, unrecorded) as u64;
        let end = place + 8 * UNRECORDED as u64;
        while place != end {
            let holder = exchange_id(place, launch);
            if holder == 0 || holder == launch {
                fence::system();
                return;
            }
            place += 8;
        }
        exchange_id(log + offset_of!(PanicLog, first_unnoted) as u64, launch);
        maximum(log + offset_of!(PanicLog, last_unnoted) as u64, launch);
        fence::system();
    }
}

/// Stores a word, visible to the host too.
///
/// # Safety
/// `at` is the address of a word in global memory.
#[inline(always)]
pub(super) unsafe fn store_word(at: u64, word: u32) {
    // SAFETY: the address is valid, by the function's condition.
    unsafe {
        asm!("st.relaxed.sys.global.u32 [{a}], {w};", a = in(reg64) at, w = in(reg32) word);
    }
}

/// Stores two words, visible to the host too.
///
/// # Safety
/// `at` is the address of two words in global memory, aligned to both.
#[inline(always)]
pub(super) unsafe fn store(at: u64, number: u64) {
    // SAFETY: the address is valid, by the function's condition.
    unsafe {
        asm!("st.relaxed.sys.global.u64 [{a}], {n};", a = in(reg64) at, n = in(reg64) number);
    }
}

/// Loads a word that the host or another thread may change.
///
/// # Safety
/// `at` is the address of a word in global memory.
#[inline(always)]
unsafe fn load(at: u64) -> u32 {
    let word: u32;
    // SAFETY: the address is valid, by the function's condition.
    unsafe {
        asm!("ld.relaxed.sys.global.u32 {w}, [{a}];", w = out(reg32) word, a = in(reg64) at);
    }
    word
}

/// Puts a word where there is 0, visible to the host too; gives what was there.
///
/// # Safety
/// `at` is the address of a word in global memory.
#[inline(always)]
unsafe fn exchange(at: u64, new: u32) -> u32 {
    let old: u32;
    // SAFETY: the address is valid, by the function's condition.
    unsafe {
        asm!("atom.acq_rel.sys.global.cas.b32 {o}, [{a}], 0, {n};",
            o = out(reg32) old, a = in(reg64) at, n = in(reg32) new);
    }
    old
}

/// The same of an id.
///
/// # Safety
/// `at` is the address of an id in global memory.
#[inline(always)]
unsafe fn exchange_id(at: u64, new: u64) -> u64 {
    let old: u64;
    // SAFETY: the address is valid, by the function's condition.
    unsafe {
        asm!("atom.acq_rel.sys.global.cas.b64 {o}, [{a}], 0, {n};",
            o = out(reg64) old, a = in(reg64) at, n = in(reg64) new);
    }
    old
}

/// Puts a word in the place of another, visible to the host too; gives what was there.
///
/// # Safety
/// `at` is the address of a word in global memory.
#[inline(always)]
unsafe fn replace(at: u64, new: u32) -> u32 {
    let old: u32;
    // SAFETY: the address is valid, by the function's condition.
    unsafe {
        asm!("atom.relaxed.sys.global.exch.b32 {o}, [{a}], {n};",
            o = out(reg32) old, a = in(reg64) at, n = in(reg32) new);
    }
    old
}

/// Raises an id to this one, visible to the host too.
///
/// # Safety
/// `at` is the address of an id in global memory.
#[inline(always)]
unsafe fn maximum(at: u64, id: u64) {
    // SAFETY: the address is valid, by the function's condition.
    unsafe {
        asm!("red.relaxed.sys.global.max.u64 [{a}], {n};", a = in(reg64) at, n = in(reg64) id);
    }
}
