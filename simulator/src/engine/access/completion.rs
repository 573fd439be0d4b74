//! Completion of asynchronous operations: where their bytes move, and where the checks see them.

use super::check::{self, complete_copies};
use super::declared::Declared;
use super::finding;
use crate::engine::exec::async_copy::AsyncCopy;
use crate::engine::exec::bulk_copy::BulkCopy;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::group_queue::Completed;
use crate::engine::exec::guest::{self, GuestWord};
use crate::engine::exec::mbarrier::Object;
use crate::engine::exec::operand::LANES;
use crate::engine::exec::warp::{Flow, Warp};

/// Completes all that the lanes of `mask` have issued and nobody else waits for: they exit.
#[inline(always)]
pub(crate) fn complete_all(warp: &mut Warp, cluster: &mut Cluster<'_>, mask: u32) -> Flow {
    if complete(warp, cluster, mask, Completed::All) == Flow::Fault {
        return Flow::Fault;
    }
    complete_bulk(warp, cluster, mask, Completed::All);
    Flow::Next
}

/// Completes copies (`cp.async`) of the lanes of `warp.mask`, which wait for them.
#[inline(always)]
pub(crate) fn wait_for_copies(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    which: Completed,
) -> Flow {
    if warp.watched {
        check::wait_for_copies(warp, cluster);
    }
    complete(warp, cluster, warp.mask, which)
}

/// Completes copies (`cp.async`) of the lanes of `mask`.
#[inline(always)]
fn complete(warp: &mut Warp, cluster: &mut Cluster<'_>, mask: u32, which: Completed) -> Flow {
    if warp.copies.is_empty() {
        return Flow::Next;
    }
    complete_some(warp, cluster, mask, which, None)
}

/// Completes all copies (`cp.async`) of the lanes of `warp.mask`, for which they arrive at mbarriers: only who waits there knows of it.
pub(crate) fn complete_at(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    mbarriers: &[*mut u8; LANES],
) -> Flow {
    if warp.copies.is_empty() {
        return Flow::Next;
    }
    complete_some(warp, cluster, warp.mask, Completed::All, Some(mbarriers))
}

#[inline(never)]
fn complete_some(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    mask: u32,
    which: Completed,
    mbarriers: Option<&[*mut u8; LANES]>,
) -> Flow {
    let copies = warp.copies.take(mask, which);
    if warp.watched {
        let same = |(a, x): &(usize, AsyncCopy), (b, y): &(usize, AsyncCopy)| {
            a < b && (x.issuer, x.declared, x.bytes) == (y.issuer, y.declared, y.bytes)
        };
        for copies in copies.chunk_by(same) {
            let (_, first) = &copies[0];
            let (mut lanes, mut pointers) = (0, [first.to; LANES]);
            for (lane, copy) in copies {
                lanes |= 1 << lane;
                pointers[*lane] = copy.to;
            }
            let (bytes, declared) = (first.bytes.into(), Declared::from_word(first.declared));
            let ends = (&pointers, bytes);
            let issuer = first.issuer;
            let found = complete_copies(issuer, cluster, declared, lanes, ends, mbarriers);
            if let Some(found) = found {
                return finding::fail(warp, cluster, &found);
            }
        }
    }
    for (_, copy) in copies {
        let AsyncCopy {
            bytes,
            from_bytes,
            from,
            to,
            ..
        } = copy;
        let (bytes, from_bytes) = (usize::from(bytes), usize::from(from_bytes));
        // SAFETY: both ranges were resolved when the copy was issued (`path::access`). The source is global memory, which stays
        // mapped while the grid runs; the destination is shared memory of the cluster, which its warps do not outlive.
        unsafe {
            guest::copy(from, to, from_bytes);
            guest::fill(to.add(from_bytes), 0, bytes - from_bytes);
        }
        warp.changes += 1;
    }
    Flow::Next
}

/// Completes bulk copies of the lanes of `mask` that are waited for by groups.
#[inline(always)]
pub(crate) fn complete_bulk(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    mask: u32,
    which: Completed,
) {
    if warp.bulk_copies.is_empty() {
        return;
    }
    for (lane, mut copy) in warp.bulk_copies.take(mask, which) {
        write(warp, cluster, &mut copy);
        check::wait(warp, cluster, 1 << lane, copy.source.as_ref());
    }
}

/// Reads the sources of the bulk copies of the lanes of `mask` that are waited for by groups.
pub(crate) fn read_bulk(warp: &mut Warp, cluster: &mut Cluster<'_>, mask: u32, which: Completed) {
    let mut copies = std::mem::take(&mut warp.bulk_copies);
    for (lane, copy) in copies.due(mask, which) {
        read(cluster, copy);
        check::wait(warp, cluster, 1 << lane, copy.source.as_ref());
    }
    warp.bulk_copies = copies;
}

/// A thread waits for the phase of an mbarrier: if nothing but bytes is missing, completes the copies that bring them.
///
/// # Safety
/// The access path found the pointer's 8 bytes, to be changed.
pub(crate) unsafe fn settle(warp: &mut Warp, cluster: &mut Cluster<'_>, barrier: *mut u8) {
    let word = barrier.cast::<u64>();
    loop {
        // SAFETY: the caller's pointer is valid for 8 bytes.
        let object = Object::unpack(unsafe { u64::load(word) });
        let Some(mut object) = object.filter(|object| object.pending == 0 && object.bytes > 0)
        else {
            return;
        };
        let count = cluster.transactions.count(barrier);
        if count == 0 {
            return;
        }
        let chosen = cluster.choose(count);
        let Some(mut transaction) = cluster.transactions.take(barrier, chosen) else {
            return;
        };
        write(warp, cluster, &mut transaction.copy);
        object.bytes -= i64::from(transaction.copy.bytes);
        // SAFETY: the caller's pointer is valid for 8 bytes, to be changed.
        unsafe { u64::store(word, object.settled()) };
    }
}

/// Reads a bulk copy's source, if it has not been read.
fn read(cluster: &mut Cluster<'_>, copy: &mut BulkCopy) {
    if copy.read.is_some() {
        return;
    }
    let mut bytes = vec![0u8; copy.bytes as usize];
    // SAFETY: the source was resolved when the copy was issued (`path::access_range`), in global memory, which stays mapped while the
    // grid runs, or in shared memory of the cluster, which its warps do not outlive; `bytes` is as long.
    unsafe { guest::copy(copy.from, bytes.as_mut_ptr(), bytes.len()) };
    copy.read = Some(bytes.into());
    check::finish(cluster, copy.source.as_ref());
}

/// Reads a bulk copy's source, if it has not been read, and writes the destination.
fn write(warp: &mut Warp, cluster: &mut Cluster<'_>, copy: &mut BulkCopy) {
    read(cluster, copy);
    let bytes = copy.read.take().unwrap_or_default();
    // SAFETY: the destination was resolved when the copy was issued (`path::access_range`), with this length and aligned to the
    // words that are combined, in global memory, which stays mapped while the grid runs, or in shared memory of the cluster.
    unsafe {
        match copy.combine {
            Some(combine) => combine(copy.to, &bytes, !cluster.holds(copy.to)),
            None => guest::write(bytes.as_ptr(), copy.to, bytes.len()),
        }
    }
    check::finish(cluster, copy.destination.as_ref());
    warp.changes += 1;
}
