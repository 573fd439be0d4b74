//! The path that every access to memory takes.

use std::sync::atomic::{Ordering, fence};

use warpsmith_isa::effect::{AccessKind, Effect, Proxy, Scope, Space};

use super::bytes::Bytes;
use super::check;
use super::collision;
use super::declared::{Declared, Region};
use super::discarded;
use super::locate::Extent;
use super::narrow;
use super::replicas::Replicas;
use super::resolve::{self, Found};
use super::values::Stored;
use crate::check::stream_order::Class;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::guest::GuestWord;
use crate::engine::exec::level::Level;
use crate::engine::exec::operand::{Address, LANES, lanes_of};
use crate::engine::exec::warp::{Flow, Warp};

/// Accesses `size` bytes a lane at an address that may be in any space. `perform` does it.
#[inline(always)]
pub(crate) fn access<L: Level>(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    address: Address,
    size: u32,
    stored: Stored<'_>,
    perform: impl FnOnce(&mut Warp, &mut Cluster<'_>, Bytes) -> Flow,
) -> Flow {
    let found = resolve::find::<L>(warp, cluster, address, size);
    resolved(warp, cluster, address, size, stored, found, perform)
}

/// As [`access`], for an address in global memory, with the code in place: worth it for whole words.
#[inline(always)]
pub(crate) fn access_global(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    address: Address,
    size: u32,
    stored: Stored<'_>,
    perform: impl FnOnce(&mut Warp, &mut Cluster<'_>, Bytes) -> Flow,
) -> Flow {
    let found = resolve::resolve::<{ resolve::GLOBAL }>(warp, cluster, address, size);
    resolved(warp, cluster, address, size, stored, found, perform)
}

/// As [`access`], at addresses that the operation has computed: for the lanes of the mask.
pub(crate) fn access_at(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    address: Address,
    addresses: &[u64; LANES],
    size: u32,
    perform: impl FnOnce(&mut Warp, &mut Cluster<'_>, Bytes) -> Flow,
) -> Flow {
    let extent = Extent::value(size);
    let found = resolve::lane_by_lane(warp, cluster, Declared::of(address), extent, addresses);
    resolved(
        warp,
        cluster,
        address,
        size,
        Stored::Unknown,
        found,
        perform,
    )
}

/// Accesses `size` bytes a lane of the memory of each device that a multicast address stands for. `perform` does it in one device's, of this
/// number in the team.
pub(crate) fn access_replicas(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    address: Address,
    size: u32,
    mut perform: impl FnMut(&mut Warp, &mut Cluster<'_>, usize, Bytes) -> Flow,
) -> Flow {
    let addresses = address.lanes(warp);
    let Some(replicas) = Replicas::find(warp, cluster, Declared::of(address), &addresses, size)
    else {
        return Flow::Fault;
    };
    let mask = warp.mask;
    let mut flow = Flow::Next;
    for number in 0..replicas.count() {
        warp.mask = replicas.point(warp, number);
        let one = |warp: &mut Warp, cluster: &mut Cluster<'_>, bytes| {
            perform(warp, cluster, number, bytes)
        };
        let (stored, found) = (Stored::Unknown, Found::Lanes);
        flow = resolved(warp, cluster, address, size, stored, found, one);
        if flow != Flow::Next {
            break;
        }
    }
    warp.mask = mask;
    flow
}

/// As [`access`], for one lane and any number of bytes: where they are. They are touched later, as asynchronous operations do; `Err`: a
/// fault was recorded.
pub(crate) fn access_range(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    address: Address,
    lane: usize,
    extent: Extent,
) -> Result<*mut u8, Flow> {
    let addresses = address.lanes(warp);
    let mask = std::mem::replace(&mut warp.mask, 1 << lane);
    let found = resolve::lane_by_lane(warp, cluster, Declared::of(address), extent, &addresses);
    let flow = resolved(
        warp,
        cluster,
        address,
        extent.bytes,
        Stored::Unknown,
        found,
        |_, _, _| Flow::Next,
    );
    warp.mask = mask;
    match flow {
        Flow::Next => Ok(warp.pointers[lane]),
        failed => Err(failed),
    }
}

/// Reads one byte at a generic address for one lane, on behalf of the device runtime; `None` if a fault was recorded.
pub(crate) fn read_byte(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    lane: usize,
    address: u64,
) -> Option<u8> {
    let effect = Effect::plain(Space::Generic, AccessKind::Read);
    let declared = Declared::new(effect, true, 0);
    let mask = std::mem::replace(&mut warp.mask, 1 << lane);
    let found = resolve::lane_by_lane(warp, cluster, declared, Extent::value(1), &[address; LANES]);
    let operand = Address::new(0, 0, declared.word());
    let mut byte = None;
    resolved(
        warp,
        cluster,
        operand,
        1,
        Stored::Unknown,
        found,
        |warp, _, bytes| {
            // SAFETY: the path has just found this byte for the lane.
            byte = Some(unsafe { u8::load(bytes.pointers(warp, 1)[lane]) });
            Flow::Next
        },
    );
    warp.mask = mask;
    byte
}

/// Tells what is touched of global memory.
#[inline(never)]
fn touch(warp: &Warp, cluster: &mut Cluster<'_>, declared: Declared, size: u32, bytes: &Bytes) {
    let is_narrow = declared.kind() == AccessKind::Atomic && declared.scope() != Scope::System;
    if is_narrow && cluster.touches.is_some() {
        narrow::note(warp, cluster, declared.scope(), &bytes.pointers(warp, size));
    }
    if declared.kind() != AccessKind::Write && cluster.grid.notes_discarded() {
        discarded::note(warp, cluster, size, &bytes.pointers(warp, size));
    }
    let Some(touches) = cluster.touches.as_deref_mut() else {
        return;
    };
    let class = match declared.proxy() {
        Proxy::NonCoherent => Class::ReadOnly,
        _ => Class::of_access(declared.writes(), declared.is_strong(), declared.scope()),
    };
    let size = u64::from(size);
    match *bytes {
        Bytes::Row(start) => touches.note(warp.waited, class, start, size * LANES as u64),
        Bytes::Lanes => {
            for lane in lanes_of(warp.mask) {
                touches.note(warp.waited, class, warp.pointers[lane], size);
            }
        }
    }
}

/// The part of the path behind the resolution.
#[inline(always)]
fn resolved(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    address: Address,
    size: u32,
    stored: Stored<'_>,
    found: Found,
    perform: impl FnOnce(&mut Warp, &mut Cluster<'_>, Bytes) -> Flow,
) -> Flow {
    let declared = Declared::of(address);
    let bytes = match found {
        Found::Row(start) => Bytes::Row(start),
        Found::Lanes => Bytes::Lanes,
        Found::Failed => return Flow::Fault,
    };
    if warp.recorded && !matches!(declared.region(), Region::Shared | Region::Other) {
        touch(warp, cluster, declared, size, &bytes);
    }
    if warp.watched
        && (warp.observed || warp.poison.is_some() || check::concerns(warp, declared))
        && check::access(warp, cluster, declared, size, stored, &bytes) == Flow::Fault
    {
        return Flow::Fault;
    }
    if warp.watched && matches!(bytes, Bytes::Lanes) && collision::concerns(warp, declared) {
        collision::note(warp, cluster, size, stored);
    }
    if declared.is_store() {
        warp.changes += 1;
    }
    if declared.releases() {
        fence(Ordering::Release);
    }
    let flow = perform(warp, cluster, bytes);
    if declared.is_strong() && !declared.is_store() {
        warp.polls();
    }
    if declared.acquires() {
        fence(Ordering::Acquire);
    }
    flow
}
