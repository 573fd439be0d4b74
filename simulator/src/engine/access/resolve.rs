//! From the addresses of all lanes to host memory, at once.
//!
//! The fast paths test all lanes together: a row of consecutive elements, any addresses inside one extent of global memory that is
//! known to be accessible, or any offsets inside one variable of the block's shared memory. Everything else is checked lane by lane in
//! [`locate`](super::locate), which makes the error reports.

use super::declared::{Declared, Region};
use super::locate::{Extent, locate};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::guest::host_pointer;
use crate::engine::exec::level::Level;
#[cfg(target_arch = "x86_64")]
use crate::engine::exec::level::VectorLevel;
use crate::engine::exec::operand::{Address, LANES, lanes_of};
use crate::engine::exec::warp::Warp;
use crate::engine::exec::windows::SHARED;

/// Where the lanes' bytes are.
#[derive(Clone, Copy)]
pub(crate) enum Found {
    /// All 32 lanes, one after the other.
    Row(*mut u8),
    /// As `warp.pointers` says, for the lanes of the mask.
    Lanes,
    /// A fault was recorded.
    Failed,
}

/// The spaces that are resolved in different ways, as parameters of [`resolve`].
const GENERIC: u8 = 0;
pub(super) const GLOBAL: u8 = 1;
const IN_SHARED: u8 = 2;
const OTHER: u8 = 3;

/// Resolves an access of `size` bytes a lane, in the space that is declared.
#[inline(always)]
pub(super) fn find<L: Level>(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    address: Address,
    size: u32,
) -> Found {
    #[cfg(target_arch = "x86_64")]
    match L::LEVEL {
        // SAFETY: a module is lowered for a level that the machine has (`lower::module::load`).
        VectorLevel::V3 => return unsafe { find_v3(warp, cluster, address, size) },
        // SAFETY: a module is lowered for a level that the machine has (`lower::module::load`).
        VectorLevel::V4 => return unsafe { find_v4(warp, cluster, address, size) },
        VectorLevel::Base => {}
    }
    find_base(warp, cluster, address, size)
}

#[inline(never)]
fn find_base(warp: &mut Warp, cluster: &Cluster<'_>, address: Address, size: u32) -> Found {
    by_space(warp, cluster, address, size)
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
fn find_v3(warp: &mut Warp, cluster: &Cluster<'_>, address: Address, size: u32) -> Found {
    by_space(warp, cluster, address, size)
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c"
)]
fn find_v4(warp: &mut Warp, cluster: &Cluster<'_>, address: Address, size: u32) -> Found {
    by_space(warp, cluster, address, size)
}

#[inline(always)]
fn by_space(warp: &mut Warp, cluster: &Cluster<'_>, address: Address, size: u32) -> Found {
    match Declared::of(address).region() {
        Region::Generic => resolve::<GENERIC>(warp, cluster, address, size),
        Region::Global => resolve::<GLOBAL>(warp, cluster, address, size),
        Region::Shared => resolve::<IN_SHARED>(warp, cluster, address, size),
        Region::Other => resolve::<OTHER>(warp, cluster, address, size),
    }
}

/// Resolves an access of `size` bytes a lane, in this space.
#[inline(always)]
pub(super) fn resolve<const SPACE: u8>(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    address: Address,
    size: u32,
) -> Found {
    let declared = Declared::of(address);
    let addresses = address.lanes(warp);
    let bytes = u64::from(size);
    if SPACE == GLOBAL || SPACE == GENERIC {
        let cached = warp.extents[declared.extent()];
        let len = if declared.writes() {
            cached.writable
        } else {
            cached.len
        };
        let start = addresses[0];
        if warp.is_full() && !declared.is_strong() {
            let mut difference = 0;
            for lane in 0..LANES {
                difference |= addresses[lane] ^ start.wrapping_add(lane as u64 * bytes);
            }
            let offset = start.wrapping_sub(cached.base);
            if difference == 0
                && start & (bytes - 1) == 0
                && offset < len
                && len - offset >= bytes * 32
            {
                return Found::Row(host_pointer(start));
            }
        }
        let mask = warp.mask;
        // An address below the extent wraps round to one far behind its end.
        let (mut last, mut low_bits) = (0, 0);
        for lane in 0..LANES {
            let on = mask >> lane & 1 != 0;
            let address = addresses[lane];
            last = last.max(if on {
                address.wrapping_sub(cached.base)
            } else {
                0
            });
            low_bits |= if on { address } else { 0 };
        }
        if low_bits & (bytes - 1) == 0 && last < len.saturating_sub(bytes - 1) {
            for lane in 0..LANES {
                warp.pointers[lane] = host_pointer(addresses[lane]);
            }
            return Found::Lanes;
        }
    }
    if SPACE == IN_SHARED || SPACE == GENERIC {
        let mask = warp.mask;
        let base = if SPACE == GENERIC { SHARED } else { 0 };
        let [start, end] = warp.shared_extents[declared.extent()].map(u64::from);
        // An address below the start wraps round to one far behind the end.
        let (mut highest, mut low_bits) = (0, 0);
        for lane in 0..LANES {
            let on = mask >> lane & 1 != 0;
            let offset = addresses[lane].wrapping_sub(base);
            highest = highest.max(if on { offset.wrapping_sub(start) } else { 0 });
            low_bits |= if on { offset } else { 0 };
        }
        if low_bits & (bytes - 1) == 0 && highest < (end - start).saturating_sub(bytes - 1) {
            let shared = warp.shared;
            for lane in 0..LANES {
                let offset = addresses[lane].wrapping_sub(base) as usize;
                warp.pointers[lane] = shared.wrapping_add(offset);
            }
            return Found::Lanes;
        }
        if in_another_variable(warp, cluster, declared, base, size, &addresses) {
            return Found::Lanes;
        }
    }
    lane_by_lane(warp, cluster, declared, Extent::value(size), &addresses)
}

/// Resolves an access of which all lanes lie in one variable of the block's own shared memory, and remembers the variable. `base`:
/// what is subtracted from the addresses.
#[inline(never)]
fn in_another_variable(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    declared: Declared,
    base: u64,
    size: u32,
    addresses: &[u64; LANES],
) -> bool {
    let bytes = u64::from(size);
    let (mut lowest, mut highest, mut low_bits) = (u64::MAX, 0, 0);
    for lane in lanes_of(warp.mask) {
        let offset = addresses[lane].wrapping_sub(base);
        lowest = lowest.min(offset);
        highest = highest.max(offset);
        low_bits |= offset;
    }
    if low_bits & (bytes - 1) != 0 || highest >= u64::from(warp.shared_size) {
        return false;
    }
    let Some(variable) = (cluster.grid.shared_map).holding(lowest, highest - lowest + bytes) else {
        return false;
    };
    warp.shared_extents[declared.extent()] = [variable.start, variable.end];
    for lane in lanes_of(warp.mask) {
        let offset = addresses[lane].wrapping_sub(base) as usize;
        warp.pointers[lane] = warp.shared.wrapping_add(offset);
    }
    true
}

#[cold]
#[inline(never)]
pub(super) fn lane_by_lane(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    declared: Declared,
    extent: Extent,
    addresses: &[u64; LANES],
) -> Found {
    for lane in lanes_of(warp.mask) {
        match locate(warp, cluster, declared, lane, addresses[lane], extent) {
            Some(pointer) => warp.pointers[lane] = pointer,
            None => return Found::Failed,
        }
    }
    Found::Lanes
}
