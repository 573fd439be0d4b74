//! Notes of lanes of one instruction that write different values to the same address.

use super::declared::{Declared, Region};
use super::finding::shared_name;
use super::values::{Comparison, Stored};
use crate::check::colliding_lanes;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::warp::Warp;
use crate::engine::fault::{FaultOrigin, Note, NoteKind};

/// Whether a write is looked at: an ordinary one, to memory that lanes share, where races are looked for. Strong writes are meant
/// to meet.
#[inline(always)]
pub(super) fn concerns(warp: &Warp, declared: Declared) -> bool {
    warp.checks.races
        && declared.is_store()
        && !declared.is_strong()
        && declared.is_synchronous()
        && declared.region() != Region::Other
}

/// The lanes of the warp are about to write `size` bytes each at `warp.pointers`.
#[inline(never)]
pub(super) fn note(warp: &Warp, cluster: &Cluster<'_>, size: u32, stored: Stored<'_>) {
    if !cluster.grid.notes.are_taken() || matches!(stored, Stored::Unknown) {
        return;
    }
    let addresses = warp.pointers.map(|pointer| pointer.addr() as u64);
    let comparison = Comparison {
        warp,
        stored,
        pointers: &warp.pointers,
        size: size as usize,
    };
    if let Some(lanes) = colliding_lanes(warp.mask, &addresses, &comparison) {
        let note = || describe(warp, cluster, size, &comparison, lanes);
        cluster.grid.notes.add(warp.issuer().site, note);
    }
}

#[cold]
fn describe(
    warp: &Warp,
    cluster: &Cluster<'_>,
    size: u32,
    values: &Comparison<'_>,
    (first, second): (usize, usize),
) -> Note {
    let grid = cluster.grid;
    let pointer = warp.pointers[first];
    let place = match cluster.place(pointer) {
        Some(place) => {
            let name = shared_name(cluster, grid, warp.block, place.block, place.offset);
            format!("shared memory, at {name}")
        }
        None => format!("global memory, at {:#x}", pointer.addr()),
    };
    Note {
        kind: NoteKind::CollidingWrites,
        message: format!(
            "lanes {first} and {second} of a warp write different values to the same {size} bytes of {place}: {} and {}",
            values.shown(first),
            values.shown(second)
        ),
        origin: origin(warp, cluster, first),
        lines: vec!["one of them stays; which one is undefined".to_owned()],
    }
}

/// Where a lane of the warp is, for a note.
pub(super) fn origin(warp: &Warp, cluster: &Cluster<'_>, lane: usize) -> FaultOrigin {
    let grid = cluster.grid;
    let frame = grid.program.site_frame(warp.issuer().site);
    FaultOrigin {
        kernel: grid.program.functions[grid.entry as usize].name.clone(),
        block: cluster.blocks[warp.block as usize].index,
        thread: grid.thread_index(warp.index, lane as u32),
        frames: frame.into_iter().collect(),
    }
}
