//! One lane's access: which space its address lies in, and whether it may be accessed.

use warpsmith_isa::effect::{AccessKind, Space};

use super::bounds::Refused;
use super::declared::Declared;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::guest::host_pointer;
use crate::engine::exec::warp::{Cached, Warp};
use crate::engine::exec::windows::{FUNCTIONS, LOCAL, PARAMETERS, RANK_SHIFT, SHARED, window};

/// The bytes of an access behind its address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// How many.
    pub bytes: u32,
    /// What the address is a multiple of.
    pub align: u32,
}

impl Extent {
    /// An access to a value of this size.
    pub fn value(size: u32) -> Extent {
        Extent {
            bytes: size,
            align: size,
        }
    }
}

/// Finds one lane's bytes; records a fault if the access is refused.
pub(crate) fn locate(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    declared: Declared,
    lane: usize,
    address: u64,
    extent: Extent,
) -> Option<*mut u8> {
    let kind = declared.kind();
    let (space, offset) = match declared.space() {
        Space::Generic => match window(address) {
            SHARED => (Space::Shared, address - SHARED),
            LOCAL => (Space::Local, address - LOCAL),
            PARAMETERS => (Space::Parameter, address - PARAMETERS),
            FUNCTIONS => (Space::Generic, address),
            _ => (Space::Global, address),
        },
        Space::Const => (Space::Global, address),
        Space::SharedCluster => (Space::Shared, address),
        space => (space, address),
    };
    let refused = Refused {
        lane,
        space,
        offset,
        size: extent.bytes,
        align: extent.align,
        kind,
    };
    if space == Space::Generic {
        refused.function(warp);
        return None;
    }
    if kind == AccessKind::Atomic && matches!(space, Space::Local | Space::Parameter) {
        refused.no_atomics(warp);
        return None;
    }
    if offset % u64::from(extent.align) != 0 {
        refused.misaligned(warp);
        return None;
    }
    match space {
        Space::Global => global(warp, cluster, declared, refused),
        Space::Shared => shared(warp, cluster, refused),
        Space::Local => local(warp, refused),
        _ => parameter(warp, cluster, refused),
    }
}

fn local(warp: &mut Warp, refused: Refused) -> Option<*mut u8> {
    let end = refused.offset.checked_add(u64::from(refused.size))?;
    let caller = warp.frames[warp.frame as usize].caller(refused.lane);
    let room = warp
        .local_stride
        .min(caller.map_or(0, |caller| caller.local_top));
    if end > u64::from(room) {
        refused.outside(warp, format!("the thread has {room} bytes of it"));
        return None;
    }
    let at = refused.lane * warp.local_stride as usize + refused.offset as usize;
    Some(warp.local.as_mut_ptr().cast::<u8>().wrapping_add(at))
}

fn parameter(warp: &mut Warp, cluster: &Cluster<'_>, refused: Refused) -> Option<*mut u8> {
    let params = &cluster.grid.params;
    let len = params.len() as u64;
    let end = refused.offset.checked_add(u64::from(refused.size));
    if refused.kind.writes() || end.is_none_or(|end| end > len) {
        let note = match refused.kind.writes() {
            true => "parameters are read-only".to_owned(),
            false => format!("the kernel has {len} bytes of parameters"),
        };
        refused.outside(warp, note);
        return None;
    }
    Some(params.as_ptr().wrapping_add(refused.offset as usize))
}

fn shared(warp: &mut Warp, cluster: &Cluster<'_>, refused: Refused) -> Option<*mut u8> {
    let offset = refused.offset & ((1 << RANK_SHIFT) - 1);
    let rank = refused.offset >> RANK_SHIFT;
    let blocks = u64::from(cluster.grid.cluster_blocks);
    if offset + u64::from(refused.size) > u64::from(warp.shared_size) || rank > blocks {
        let note = match rank > blocks && blocks > 1 {
            true => format!("the cluster has {blocks} blocks"),
            false => format!(
                "the block has {} bytes of shared memory",
                cluster.grid.shared_total
            ),
        };
        refused.outside(warp, note);
        return None;
    }
    let size = u64::from(refused.size);
    if cluster.grid.shared_map.holding(offset, size).is_none() {
        refused.between_variables(warp, cluster, offset);
        return None;
    }
    let base = match rank {
        0 => warp.shared,
        _ => {
            let other = &cluster.blocks[rank as usize - 1];
            if other.live == 0 && other.rank != warp.block {
                let [x, y, z] = other.index;
                let note = format!("block ({x},{y},{z}) has exited: its shared memory is gone");
                refused.outside(warp, note);
                return None;
            }
            other.shared
        }
    };
    Some(base.wrapping_add(offset as usize))
}

fn global(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    declared: Declared,
    refused: Refused,
) -> Option<*mut u8> {
    let (address, bytes) = (refused.offset, u64::from(refused.size));
    let slot = declared.extent();
    let cached = warp.extents[slot];
    let len = if declared.writes() {
        cached.writable
    } else {
        cached.len
    };
    let offset = address.wrapping_sub(cached.base);
    if offset < len && len - offset >= bytes {
        return Some(host_pointer(address));
    }
    let memory = cluster.grid.memory;
    let (arena, arena_len) = memory.arena();
    let inside = address.wrapping_sub(arena);
    if !warp.checks.bounds && inside < arena_len && arena_len - inside >= bytes {
        warp.extents[slot] = Cached {
            base: arena,
            len: arena_len,
            writable: arena_len,
        };
        return Some(host_pointer(address));
    }
    match memory.validate(address, bytes, declared.writes()) {
        Ok(extent) => {
            let len = extent.end.wrapping_sub(extent.base);
            let offset = address.wrapping_sub(extent.base);
            debug_assert!(
                offset < len && len - offset >= bytes,
                "the memory's answer covers the access"
            );
            warp.extents[slot] = Cached {
                base: extent.base,
                len,
                writable: if extent.writable { len } else { 0 },
            };
            Some(host_pointer(address))
        }
        Err(error) => {
            refused.global(warp, cluster, &error);
            None
        }
    }
}
