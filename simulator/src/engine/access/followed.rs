//! Uninitialised values that loads and stores move: marked in the registers of a load, in the memory of a store.
//!
//! What a lane loads or stores by itself is followed by the path ([`access`]). Where lanes hold a fragment together,
//! the operation says which bytes are whose: [`loaded`], [`stored`].

use super::declared::Declared;
use super::told::as_told;
use crate::check::{Access, DecisionKind, Marks, Performer, Poison, PoisonOrigin};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::issuer::Issuer;
use crate::engine::exec::operand::{Address, CONSTANT, FULL, LANES, SINK, lanes_of};
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
    (offset < size_of_val(&*warp.local)).then(|| offset.wrapping_sub(start) as u64)
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
            let part = Part {
                lane,
                start: pointers[lane].wrapping_add(start),
                bytes: each,
            };
            if let Some(origin) = origin(warp, cluster, &mut poison, told, part) {
                marks.mark(lane, origin);
            }
        }
        poison.write(warp.frame, register, warp.mask, &marks);
    }
    warp.follow_from_here(poison);
}

/// A part of what a lane's register holds, in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The lane that it is accessed for.
    pub lane: usize,
    pub start: *mut u8,
    pub bytes: u32,
}

/// The parts of the registers of a fragment: calls its last argument with those of the register of this number in this
/// lane.
pub(crate) type Parts<'p> = &'p dyn Fn(usize, usize, &mut dyn FnMut(Part));

/// Where the value of a part comes from that is loaded, if it is uninitialised.
fn origin(
    warp: &Warp,
    cluster: &Cluster<'_>,
    poison: &mut Poison,
    told: &Access<'_>,
    Part { lane, start, bytes }: Part,
) -> Option<u32> {
    match place(warp, cluster, lane, start) {
        Place::Shared(offset) => {
            let checker = cluster.checker.as_deref()?;
            let origin = checker.poison_at(told, lane as u32, offset, bytes)?;
            Some(poison.number(origin))
        }
        Place::Local(offset) => poison.read_local(lane, offset, bytes.into()),
        Place::Elsewhere => None,
    }
}

/// Marks the registers of a fragment that has been loaded in accesses of `size` bytes, the first `count` results of the
/// instruction. Call it if the warp has uninitialised values then.
#[cold]
pub(crate) fn loaded(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    (at, size): (Address, u32),
    count: usize,
    parts: Parts<'_>,
) {
    let Some(mut poison) = warp.poison.take() else {
        return;
    };
    let offsets = [0; LANES];
    let told = as_told(warp.issuer(), Declared::of(at), FULL, &offsets, size);
    let registers = warp.moved_registers(cluster.grid.program);
    for (number, &register) in registers[..count].iter().enumerate() {
        if register == SINK {
            continue;
        }
        let mut marks = Marks::NONE;
        for lane in lanes_of(warp.mask) {
            parts(number, lane, &mut |part| {
                if let Some(origin) = origin(warp, cluster, &mut poison, &told, part) {
                    marks.mark(lane, origin);
                }
            });
        }
        poison.write(warp.frame, register, warp.mask, &marks);
    }
    warp.follow_from_here(poison);
}

/// Marks the memory that a fragment has been stored to, the first `count` sources of the instruction. What goes to
/// global memory has left the block. Call it if the warp has uninitialised values.
#[cold]
pub(crate) fn stored(warp: &mut Warp, cluster: &mut Cluster<'_>, count: usize, parts: Parts<'_>) {
    let Some(poison) = warp.poison.take() else {
        return;
    };
    let registers = warp.moved_registers(cluster.grid.program);
    for (number, &register) in registers[..count].iter().enumerate() {
        if register & CONSTANT != 0 {
            continue;
        }
        let marks = poison.marks(warp.frame, register);
        for lane in lanes_of(marks.lanes() & warp.mask) {
            let mut all = Vec::new();
            parts(number, lane, &mut |part| all.push(part));
            for part in all {
                let origin = marks.origin(lane);
                match place(warp, cluster, part.lane, part.start) {
                    Place::Shared(offset) => {
                        if let (Some(origin), Some(checker)) =
                            (origin, cluster.checker.as_deref_mut())
                        {
                            checker.spoil(offset, part.bytes, poison.origin(origin));
                        }
                    }
                    Place::Local(_) | Place::Elsewhere => {
                        warp.decides(cluster, &poison, DecisionKind::Output, &marks, 1 << lane);
                    }
                }
            }
        }
    }
    warp.poison = Some(poison);
}

/// Where the value of some bytes comes from that an asynchronous operation of this issuer reads, in accesses of `size`
/// bytes, if they are uninitialised.
pub(crate) fn read_by_operation(
    cluster: &Cluster<'_>,
    issuer: Issuer,
    (declared, size): (Declared, u32),
    start: *mut u8,
    bytes: u32,
) -> Option<PoisonOrigin> {
    let checker = cluster.checker.as_deref()?;
    let offsets = [0; LANES];
    let told = as_told(issuer, declared, FULL, &offsets, size);
    let mut origin = checker.poison_at(&told, 0, cluster.shared_offset(start), bytes)?;
    if origin.access.site == issuer.site {
        origin.access.performer = Performer::Operation;
    }
    Some(origin)
}

/// Where the values of registers come from that belong to an operation in flight of this issuer; `None` if values are not followed.
pub(crate) fn in_flight(
    cluster: &Cluster<'_>,
    issuer: Issuer,
    (declared, size): (Declared, u32),
) -> Option<PoisonOrigin> {
    let offsets = [0; LANES];
    let told = as_told(issuer, declared, FULL, &offsets, size);
    cluster.checker.as_deref()?.in_flight(&told)
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
