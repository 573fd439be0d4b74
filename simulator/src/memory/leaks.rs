//! The check of leaks (`leaks` in `WARPSMITH_CHECKS`): memory that nobody has freed when its context ends, or the process.
//!
//! What is left is named in one report, each piece with the call that allocated it. Nothing else comes of it: the context's end frees it,
//! as it does without the check.

use std::ffi::c_int;
use std::sync::{Arc, Once};

use warpsmith_abi::fault::{Fault, FaultKind};

use super::allocation::{AllocationDetail, AllocationInfo, AllocationKind};
use super::engine_view::describe;
use super::pool;
use super::space::Memory;
use super::virtual_memory;
use crate::report;
use crate::settings;

/// So many pieces are named; the rest is counted.
const MOST_NAMED: usize = 32;

/// A context ends by this call; what its streams had to do is done.
pub(crate) fn at_end_of_context(context: u64, call: &str) {
    if settings::get().leaks {
        let left = Memory::global().of_context(context);
        let left = left.into_iter().filter(is_programs).map(line).collect();
        name(left, &format!("the end of context {context:#x} ({call})"));
    }
}

/// Has memory named that is left at the end of the process, where its contexts have not ended before.
pub(crate) fn watch_end_of_process() {
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> c_int;
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the C library calls the function once, when the process ends or this library is unloaded, while its code is still there;
        // it uses nothing that ends before.
        let refused = unsafe { atexit(at_end_of_process) };
        // The process then ends without a report.
        debug_assert_eq!(refused, 0, "there is room for a function at the end");
    });
}

extern "C" fn at_end_of_process() {
    // What cannot be written then is not: a panic would end the process as a crash does.
    let _ = std::panic::catch_unwind(name_all);
}

fn name_all() {
    if !settings::get().leaks {
        return;
    }
    let live = Memory::global().live();
    let mut left: Vec<Left> = live.into_iter().filter(is_programs).map(line).collect();
    for (handle, bytes) in virtual_memory::held_memory() {
        left.push(Left {
            bytes,
            text: format!("{bytes} bytes of physical memory of cuMemCreate, handle {handle:#x}"),
        });
    }
    name(left, "the end of the process");
}

/// A piece of memory that is left.
struct Left {
    bytes: usize,
    text: String,
}

/// Whether a program is to free it by a call: variables end with their module, and what is mapped with its handle.
fn is_programs((info, detail): &(AllocationInfo, AllocationDetail)) -> bool {
    match detail.kind {
        AllocationKind::Global | AllocationKind::Internal | AllocationKind::Mapping => false,
        // A stream that has been told to free it may not have come so far when the process ends.
        AllocationKind::Pool(pool) => {
            pool::of_allocation(pool).is_none_or(|pool| pool.freed_in(info.base).is_none())
        }
        AllocationKind::Managed => !detail.made_by.starts_with("variable "),
        _ => true,
    }
}

fn line((info, detail): (AllocationInfo, AllocationDetail)) -> Left {
    let what = describe(info, &detail).what;
    Left {
        bytes: info.len,
        text: format!("{} bytes of {what} at {:#x}", info.len, info.base),
    }
}

fn name(left: Vec<Left>, when: &str) {
    if left.is_empty() {
        return;
    }
    let bytes: usize = left.iter().map(|piece| piece.bytes).sum();
    let count = left.len();
    let pieces = if count == 1 {
        "allocation is"
    } else {
        "allocations are"
    };
    let message = format!("leak: {count} {pieces} not freed at {when}, {bytes} bytes in all");
    let mut notes: Vec<String> = left
        .into_iter()
        .take(MOST_NAMED)
        .map(|piece| piece.text)
        .collect();
    if count > MOST_NAMED {
        notes.push(format!("and {} more", count - MOST_NAMED));
    }
    let fault = Fault {
        notes,
        ..Fault::outside_kernels(FaultKind::Leak, message)
    };
    report::fault(&Arc::new(fault));
}
