//! Completion of asynchronous operations: where their bytes move, and where the checks see them.

use super::check::shared_access;
use super::declared::Declared;
use super::finding;
use crate::engine::exec::async_copy::AsyncCopy;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::group_queue::Completed;
use crate::engine::exec::guest;
use crate::engine::exec::operand::LANES;
use crate::engine::exec::warp::{Flow, Warp};

/// Completes copies of the lanes of `mask`.
#[inline(always)]
pub(crate) fn complete(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    mask: u32,
    which: Completed,
) -> Flow {
    if warp.copies.is_empty() {
        return Flow::Next;
    }
    complete_some(warp, cluster, mask, which)
}

#[inline(never)]
fn complete_some(warp: &mut Warp, cluster: &mut Cluster<'_>, mask: u32, which: Completed) -> Flow {
    for (lane, copy) in warp.copies.take(mask, which) {
        if warp.watched && check(warp, cluster, lane, &copy) == Flow::Fault {
            return Flow::Fault;
        }
        let (bytes, from_bytes) = (usize::from(copy.bytes), usize::from(copy.from_bytes));
        // SAFETY: both ranges were resolved when the copy was issued (`path::access`). The source is global memory, which stays
        // mapped while the grid runs; the destination is shared memory of the cluster, which its warps do not outlive.
        unsafe {
            guest::copy(copy.from, copy.to, from_bytes);
            guest::fill(copy.to.add(from_bytes), 0, bytes - from_bytes);
        }
        warp.changes += 1;
    }
    Flow::Next
}

/// The write of a copy, by the thread that issued it. Its value is not compared: it is not in a register.
fn check(warp: &mut Warp, cluster: &mut Cluster<'_>, lane: usize, copy: &AsyncCopy) -> Flow {
    let found = shared_access(
        warp,
        cluster,
        Declared::from_word(copy.declared),
        1 << lane,
        &[copy.to; LANES],
        copy.bytes.into(),
        copy.site,
        &(),
    );
    match found {
        Some(found) => finding::fail(warp, cluster, &found),
        None => Flow::Next,
    }
}
