//! Notes of reads of global memory whose contents the program has discarded (CUDA driver API, `cuMemDiscardBatchAsync`).

use super::collision::origin;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::operand::{LANES, lanes_of};
use crate::engine::exec::warp::Warp;
use crate::engine::fault::{Note, NoteKind};

/// The lanes of the warp are about to read `size` bytes each, in this space or another.
pub(super) fn note(warp: &Warp, cluster: &Cluster<'_>, size: u32, pointers: &[*mut u8; LANES]) {
    let grid = cluster.grid;
    let found = lanes_of(warp.mask).find_map(|lane| {
        let address = pointers[lane].addr() as u64;
        let first = grid.memory.first_discarded(address, u64::from(size))?;
        Some((lane, first))
    });
    let Some((lane, address)) = found else {
        return;
    };
    grid.notes.add(warp.issuer().site, || Note {
        kind: NoteKind::DiscardedRead,
        message: format!(
            "a read of {size} bytes of managed memory whose contents were discarded, at {address:#x}"
        ),
        origin: origin(warp, cluster, lane),
        lines: vec![
            "nothing has written there since (cuMemDiscardBatchAsync): the value is indeterminate".to_owned(),
            "write the memory before it is read, or do not discard it".to_owned(),
        ],
    });
}
