//! A barrier is removed if nothing that it orders could be seen in another order.
//!
//! A barrier orders what threads access before it, since the barriers before, and what they access behind it, until the next ones. If no access of
//! the first sort and none of the second are to the same memory with one of them writing, it orders nothing:
//!
//! ```text
//! loop {                                   loop {
//!     bar.sync 0                               bar.sync 0
//!     tile_a[own] = load a                     tile_a[own] = load a
//!     bar.sync 0                               tile_b[own] = load b
//!     tile_b[own] = load b                     bar.sync 0
//!     bar.sync 0                               sum += tile_a[..] * tile_b[..]
//!     sum += tile_a[..] * tile_b[..]       }
//! }
//! ```
//!
//! The first one of the round stays: behind the last one the tile is read that it lets be filled. One barrier is removed at a time, as what the others
//! order then is more. Which of two is removed may matter: those in inner loops come first.
//!
//! A thread that leaves the kernel before a barrier, as by a panic, is not waited for any more when it has left; so what it accesses comes before the barrier, too.
//!
//! All threads must go on to pass the same barriers as each other, which `together` knows for certain. Nothing is removed where the module has
//! barriers of another kind, or where a function is called that may have one.

mod accesses;
mod segments;
mod together;

use super::{barriers, is_kernel, loops, panic_sites};
use crate::llvm::{Module, Value, ValueKind};
use accesses::Access;
use segments::{Segment, Segments};

/// The form that `together` needs.
const FORM: &str = "function(loop-simplify,lcssa)";

/// Whether an instruction accesses no memory but a thread's own and such that no thread writes, and orders nothing.
pub(super) fn accesses_nothing(instruction: Value<'_>) -> bool {
    accesses::of(instruction).is_empty()
}

/// Removes what is not needed from kernels.
pub(super) fn remove(module: &Module<'_>) -> Result<(), String> {
    if barriers::has_others(module) {
        return Ok(());
    }
    let mut is_in_form = false;
    for kernel in module.functions().into_iter().filter(|f| is_kernel(*f)) {
        if kernel.instructions().into_iter().any(may_have_barrier) {
            continue;
        }
        while let Some(needless) = needless(kernel) {
            if !is_in_form {
                module.run_passes(FORM, None)?;
                is_in_form = true;
                continue;
            }
            if !together::is_known(kernel, &Segments::of(kernel)) {
                break;
            }
            needless.erase();
        }
    }
    Ok(())
}

/// Whether an instruction is a call of what may pass a barrier, or is not known at all.
fn may_have_barrier(instruction: Value<'_>) -> bool {
    if !instruction.is_call() {
        return false;
    }
    let Some(callee) = instruction.callee() else {
        return true;
    };
    match callee.kind() {
        ValueKind::InlineAsm => false,
        ValueKind::Function if callee.is_intrinsic() => {
            let name = callee.name();
            name.contains("bar") || name.contains("sync")
        }
        ValueKind::Function => !panic_sites::is_panic(callee),
        _ => true,
    }
}

/// A barrier that orders nothing.
fn needless(kernel: Value<'_>) -> Option<Value<'_>> {
    let segments = Segments::of(kernel);
    let loops = loops::all(kernel);
    let depth = |segment: &Segment<'_>| {
        let around = loops
            .iter()
            .filter(|one| one.blocks.contains(&segment.block));
        around.count()
    };
    let mut found: Vec<_> = segments.with_barriers().collect();
    found.sort_by_key(|n| std::cmp::Reverse(depth(&segments.all[*n])));
    let needless = found.into_iter().find(|n| !orders(&segments, *n))?;
    segments.all[needless].barrier
}

/// Whether the barrier at the end of a segment orders two accesses that may be seen.
fn orders(segments: &Segments<'_>, at: usize) -> bool {
    let of = |reached: Vec<usize>| -> Vec<Access<'_>> {
        let instructions = reached
            .into_iter()
            .flat_map(|n| &segments.all[n].instructions);
        instructions.flat_map(|i| accesses::of(*i)).collect()
    };
    // What a thread does that leaves before the barrier has happened when the others pass it, too.
    let before = of(segments.until_barriers(segments.since_barriers(at)));
    let behind = of(segments.until_barriers(segments.all[at].behind));
    let conflicts = |one: &Access<'_>| behind.iter().any(|other| one.conflicts(other));
    before.iter().any(conflicts)
}
