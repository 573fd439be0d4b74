//! Notes of atomic operations on memory of the host whose scope leaves the host out (CUDA C++ Programming Guide, "Mapped Memory").

use warpsmith_isa::effect::Scope;

use super::collision::origin;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::operand::{LANES, lanes_of};
use crate::engine::exec::warp::Warp;
use crate::engine::fault::{Note, NoteKind};

/// The lanes of the warp are about to do an atomic operation of a narrower scope than the system's there.
pub(super) fn note(warp: &Warp, cluster: &Cluster<'_>, scope: Scope, pointers: &[*mut u8; LANES]) {
    let grid = cluster.grid;
    if !grid.notes.are_taken() {
        return;
    }
    let on_host = |&lane: &usize| grid.memory.lacks_host_atomics(pointers[lane].addr() as u64);
    let Some(lane) = lanes_of(warp.mask).find(on_host) else {
        return;
    };
    let scope = match scope {
        Scope::Device => "device",
        Scope::Cluster => "cluster",
        _ => "block",
    };
    grid.notes.add(warp.issuer().site, || Note {
        kind: NoteKind::NarrowHostAtomic,
        message: format!(
            "an atomic operation of {scope} scope on memory of the host, at {:#x}",
            pointers[lane].addr()
        ),
        origin: origin(warp, cluster, lane),
        lines: vec![
            "the host and other devices that use it meanwhile may see its read and its write apart".to_owned(),
            "give it system scope, and let the host only read, or use it when the kernel has ended: this device has no native atomics there \
             (HOST_NATIVE_ATOMIC_SUPPORTED)"
                .to_owned(),
        ],
    });
}
