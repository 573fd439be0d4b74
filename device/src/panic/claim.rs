//! Claims a record of the panic log for the panicking thread, and says in it which thread that is.
//!
//! All of it is inlined into what records a panic, and nothing in it calls: a kernel with a call gets 32 registers at least. What it needs
//! of registers, every kernel does that can panic. So the claim is a word of 32 bits, what is passed with the launch is read again where it is
//! needed, and special registers are stored one by one.

use core::arch::asm;
use core::mem::offset_of;

use super::{COMPLETE, KERNEL_BITS, PanicLog, PanicRecord, RECORDS, claim_word};
use crate::fence;

unsafe extern "C" {
    /// The address of the launch's [`PanicLog`], 0 for none. The PTX linker puts a parameter of the entry in the place of a call.
    safe fn __warpsmith_panic_log() -> u64;
    /// The launch's id, as [`__warpsmith_panic_log`].
    safe fn __warpsmith_launch() -> u64;
}

/// Sets the predicate `%wstop` to what `stops_the_grid` of the parent says, by way of `%wold`.
#[cfg(warpsmith_after_panic = "trap")]
macro_rules! set_stop {
    () => {
        "setp.eq.u32 %wstop, 0, 0;"
    };
}
#[cfg(all(
    not(warpsmith_after_panic = "trap"),
    warpsmith_arch_at_least = "90"
))]
macro_rules! set_stop {
    () => {
        "mov.u32 %wold, %cluster_nctarank; setp.gt.u32 %wstop, %wold, 1;"
    };
}
#[cfg(not(any(warpsmith_after_panic = "trap", warpsmith_arch_at_least = "90")))]
macro_rules! set_stop {
    () => {
        "setp.ne.u32 %wstop, 0, 0;"
    };
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
    unsafe { search(log, claim_word(__warpsmith_launch(), graph_launch(log))) }
}

/// Claims the first free record of the log for the launch with this word. Gives its address, or 0 if the launch has one or none is free; the launch is
/// noted then.
///
/// In assembly, as ptxas takes registers for what it makes of a loop without the pragma.
///
/// # Safety
/// `log` is the address of a log that is kept until the launch is done.
#[inline(always)]
#[expect(
    named_asm_labels,
    reason = "PTX has no numeric labels, and a label's scope is the block in braces"
)]
unsafe fn search(log: u64, word: u32) -> u64 {
    const {
        let first = offset_of!(PanicLog, first_unrecorded);
        assert!(first == offset_of!(PanicLog, claims) + 4 * RECORDS);
        assert!(offset_of!(PanicLog, last_unrecorded) == first + 4);
        assert!(offset_of!(PanicLog, unrecorded_kernel) == first + 8);
    }
    let record: u64;
    // SAFETY: the log is there, by the function's condition, and its words are changed as wholes.
    unsafe {
        asm!(
            "{{ .reg .pred %wstop, %wgo; .reg .b32 %wold, %windex, %wlow;",
            set_stop!(),
            // Where the grid is to stop, each thread looks for the record, which it waits for; and no launch follows.
            "@%wstop bra wlook;",
            "atom.relaxed.sys.global.exch.b32 %wold, [{l}+{last}], {w};",
            "setp.eq.u32 %wgo, %wold, {w};",
            "@%wgo bra wnone;",
            "wlook: mov.b32 %windex, 0;",
            "wnext: .pragma \"nounroll\";",
            "mad.wide.u32 {r}, %windex, 4, {l};",
            "atom.acq_rel.sys.global.cas.b32 %wold, [{r}+{claims}], 0, {w};",
            "setp.eq.u32 %wgo, %wold, 0;",
            "@%wgo bra wfree;",
            "setp.eq.u32 %wgo, %wold, {w};",
            "@%wgo bra wheld;",
            "add.u32 %windex, %windex, 1;",
            "setp.ne.u32 %wgo, %windex, {records};",
            "@%wgo bra wnext;",
            // No record is free. Behind the last place, whose address ptxas takes for another in each thread: of one that is the same in all it makes
            // one operation a warp, which takes registers.
            "mov.b64 {{%wlow, %wold}}, {id};",
            "shf.l.wrap.b32 %wold, %wlow, %wold, 32 - {kernel_bits};",
            "and.b32 %wlow, %wlow, (1 << {kernel_bits}) - 1;",
            "st.relaxed.sys.global.u32 [{r}+{claims}+12], %wlow;",
            "setp.ne.u32 %wgo, %wold, 0;",
            "@%wgo bra wnote;",
            "ld.relaxed.sys.global.u32 %wold, [{l}+{graph_launch}];",
            "max.u32 %wold, %wold, 1;",
            "wnote: not.b32 %wlow, %wold;",
            "red.relaxed.sys.global.max.u32 [{r}+{claims}+4], %wlow;",
            "red.relaxed.sys.global.max.u32 [{r}+{claims}+8], %wold;",
            "fence.sc.sys;",
            "bra wnone;",
            // Another thread's of the launch: the grid is to stop, or kernels of one graph panic beside each other. A trap would stop the thread that
            // fills the record.
            "wheld: mad.wide.u32 {r}, %windex, {size}, {l};",
            "wwait: .pragma \"nounroll\";",
            "@!%wstop bra wnone;",
            "ld.relaxed.sys.global.u32 %wold, [{r}+{first_record}+{state}];",
            "setp.ne.u32 %wgo, %wold, {complete};",
            "@%wgo bra wwait;",
            "bra wnone;",
            "wfree: mad.wide.u32 {r}, %windex, {size}, {l};",
            "add.u64 {r}, {r}, {first_record};",
            "bra wend;",
            "wnone: mov.b64 {r}, 0;",
            "wend: mov.b64 {r}, {r}; }}",
            r = out(reg64) record,
            l = in(reg64) log,
            w = in(reg32) word,
            id = in(reg64) __warpsmith_launch(),
            last = const offset_of!(PanicLog, last_claim),
            claims = const offset_of!(PanicLog, claims),
            records = const RECORDS,
            kernel_bits = const KERNEL_BITS,
            graph_launch = const offset_of!(PanicLog, graph_launch),
            size = const size_of::<PanicRecord>(),
            first_record = const offset_of!(PanicLog, records),
            state = const offset_of!(PanicRecord, state),
            complete = const COMPLETE,
        );
    }
    record
}

/// The address of the log's texts.
pub(super) fn texts() -> u64 {
    __warpsmith_panic_log() + offset_of!(PanicLog, texts) as u64
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
        store(record + offset_of!(PanicRecord, launch) as u64, __warpsmith_launch());
        let number = graph_launch(__warpsmith_panic_log());
        store_word(record + offset_of!(PanicRecord, graph_launch) as u64, number);
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
pub(super) unsafe fn exchange(at: u64, new: u32) -> u32 {
    let old: u32;
    // SAFETY: the address is valid, by the function's condition.
    unsafe {
        asm!("atom.acq_rel.sys.global.cas.b32 {o}, [{a}], 0, {n};",
            o = out(reg32) old, a = in(reg64) at, n = in(reg32) new);
    }
    old
}
