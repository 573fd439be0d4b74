//! Uninitialised values that loads and stores move: marked in the registers of a load, in the memory of a store.

use super::declared::Declared;
use crate::check::{Access, DecisionKind, Marks};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::operand::{CONSTANT, LANES, SINK, lanes_of};
use crate::engine::exec::warp::Warp;

/// The lanes of the warp, which has uninitialised values or is about to read some, access `size` bytes each. `told`: the access as the
/// checks know it.
#[cold]
#[inline(never)]
pub(super) fn access(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    declared: Declared,
    told: &Access<'_>,
    pointers: &[*mut u8; LANES],
) {
    match (declared.is_followed(), declared.writes()) {
        (true, false) => load(warp, cluster, told, pointers),
        (true, true) => store(warp, cluster, told, pointers),
        (false, false) => read_elsewhere(warp, cluster, told.size, pointers),
        (false, true) => {}
    }
}

/// Where a lane has a part of what is moved.
enum Place {
    /// At this offset of the shared memory.
    Shared(u32),
    /// At this offset of the lane's local memory.
    Local(u64),
    /// Where uninitialised values are not followed.
    Elsewhere,
}

fn place(warp: &Warp, cluster: &Cluster<'_>, lane: usize, pointer: *mut u8) -> Place {
    if cluster.holds(pointer) {
        return Place::Shared(cluster.shared_offset(pointer));
    }
    local_place(warp, lane, pointer).map_or(Place::Elsewhere, Place::Local)
}

/// The registers that an access moves, with where the part of each begins, and how many bytes a part has.
fn parts(
    warp: &Warp,
    cluster: &Cluster<'_>,
    told: &Access<'_>,
) -> (impl Iterator<Item = (u32, usize)> + use<>, u32) {
    let registers = warp.moved_registers(cluster.grid.program);
    let each = told.size / registers.len().max(1) as u32;
    let starts = (0..).map(move |index| index * each as usize);
    (registers.into_iter().zip(starts), each)
}

/// The offset of a pointer into a lane's local memory.
fn local_place(warp: &Warp, lane: usize, pointer: *mut u8) -> Option<u64> {
    let offset = pointer.addr().wrapping_sub(warp.local.as_ptr().addr());
    let start = lane * warp.local_stride as usize;
    (offset < warp.local.len()).then(|| offset.wrapping_sub(start) as u64)
}

/// Marks the registers that are loaded.
fn load(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    told: &Access<'_>,
    pointers: &[*mut u8; LANES],
) {
    let (parts, each) = parts(warp, cluster, told);
    let mut poison = warp.poison.take().unwrap_or_default();
    for (register, start) in parts.filter(|&(register, _)| register != SINK) {
        let mut marks = Marks::NONE;
        for lane in lanes_of(warp.mask) {
            let origin = match place(warp, cluster, lane, pointers[lane].wrapping_add(start)) {
                Place::Shared(offset) => {
                    let checker = cluster.checker.as_deref();
                    let origin = checker.and_then(|c| c.poison_at(told, lane as u32, offset, each));
                    origin.map(|origin| poison.number(origin))
                }
                Place::Local(offset) => poison.read_local(lane, offset, each.into()),
                Place::Elsewhere => None,
            };
            if let Some(origin) = origin {
                marks.mark(lane, origin);
            }
        }
        poison.write(warp.frame, register, warp.mask, &marks);
    }
    if !poison.is_empty() {
        // The interpreter looks at the limit next, and goes on following.
        warp.limit = 0;
        warp.poison = Some(poison);
    }
}

/// Marks the memory that is stored to. What goes to global memory has left the block.
fn store(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    told: &Access<'_>,
    pointers: &[*mut u8; LANES],
) {
    let (parts, each) = parts(warp, cluster, told);
    let Some(mut poison) = warp.poison.take() else {
        return;
    };
    for (register, start) in parts {
        let marks = match register & CONSTANT {
            0 => poison.marks(warp.frame, register),
            _ => Marks::NONE,
        };
        for lane in lanes_of(warp.mask) {
            let origin = marks.origin(lane);
            match place(warp, cluster, lane, pointers[lane].wrapping_add(start)) {
                Place::Shared(offset) => {
                    if let (Some(origin), Some(checker)) = (origin, cluster.checker.as_deref_mut())
                    {
                        checker.spoil(offset, each, poison.origin(origin));
                    }
                }
                Place::Local(offset) => poison.write_local(lane, offset, each.into(), origin),
                Place::Elsewhere => {
                    warp.decides(cluster, &poison, DecisionKind::Output, &marks, 1 << lane);
                }
            }
        }
    }
    warp.poison = Some(poison);
}

/// Local memory is read by something else than a load: a call of the device runtime.
fn read_elsewhere(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    size: u32,
    pointers: &[*mut u8; LANES],
) {
    let Some(poison) = warp.poison.take() else {
        return;
    };
    for lane in lanes_of(warp.mask) {
        let offset = local_place(warp, lane, pointers[lane]);
        let origin = offset.and_then(|offset| poison.read_local(lane, offset, size.into()));
        if let Some(origin) = origin {
            let mut marks = Marks::NONE;
            marks.mark(lane, origin);
            warp.decides(cluster, &poison, DecisionKind::Operand, &marks, 1 << lane);
        }
    }
    warp.poison = Some(poison);
}
