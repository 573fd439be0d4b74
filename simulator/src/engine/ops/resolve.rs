//! From addresses to host memory: which bytes a memory instruction touches, checked.
//!
//! The fast paths test all lanes at once: a contiguous run of elements, or any addresses inside one extent that is known to
//! be accessible. Everything else is checked lane by lane in [`locate`], which makes the error reports.

use crate::engine::environment::AccessError;
use crate::engine::exec::lanes::{LANES, lanes_of, src};
use crate::engine::exec::warp::{Cached, EXTENTS, Flow, Inst, Warp};
use crate::engine::exec::windows::{
    FUNCTIONS, LOCAL, PARAMETERS, RANK_SHIFT, SHARED, WINDOWS, window,
};
use crate::engine::fault::{
    AccessKind, FaultAccess, FaultDetails, FaultKind, MemorySpace, NearestAllocation,
};

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    Atomic,
}

impl Access {
    /// Whether it needs permission to write.
    #[inline(always)]
    pub fn writes(self) -> bool {
        self != Access::Read
    }

    fn kind(self) -> AccessKind {
        match self {
            Access::Read => AccessKind::Read,
            Access::Write => AccessKind::Write,
            Access::Atomic => AccessKind::Atomic,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Atomic => "atomic operation",
        }
    }
}

/// State spaces of memory instructions.
pub(crate) const GENERIC: u8 = 0;
/// Global (and constant) memory.
pub(crate) const GLOBAL: u8 = 1;
/// Shared memory of the block or cluster.
pub(crate) const SHARED_SPACE: u8 = 2;
/// Local memory.
pub(crate) const LOCAL_SPACE: u8 = 3;
/// Parameters of the kernel.
pub(crate) const PARAMETER_SPACE: u8 = 4;

/// `x`, bit 0: the base has 64 bits, else 32.
pub(crate) const WIDE_BASE: u32 = 1;
/// `x`, bit 1: volatile, relaxed, acquire or release.
pub(crate) const STRONG: u32 = 2;
/// `x`, bit 2: acquire (load) or release (store).
pub(crate) const ORDERED: u32 = 4;
/// `x`, bits 4 to 7: which remembered extent.
pub(crate) const EXTENT_SHIFT: u32 = 4;
/// `x`, bits 8 to 11: the space.
pub(crate) const SPACE_SHIFT: u32 = 8;
/// `x`, bits 12 to 15: elements of a vector.
pub(crate) const COUNT_SHIFT: u32 = 12;

/// `x`, bits 16 to 18, of stores: bytes of a lane in the value's registers, as a power of two.
pub(crate) const REGISTER_SHIFT: u32 = 16;

/// Where the lanes' bytes are.
pub(crate) enum Found {
    /// All 32 lanes, one after the other.
    Contiguous(*mut u8),
    /// As `warp.pointers` says for the lanes of the mask.
    Scattered,
    /// A fault was recorded.
    Failed,
}

/// The lanes' addresses.
#[inline(always)]
pub(crate) unsafe fn addresses(warp: &Warp, inst: &Inst) -> [u64; LANES] {
    let offset = i64::from(inst.c as i32) as u64;
    // SAFETY: the lowering says in `x` how wide the base is.
    unsafe {
        if inst.x & WIDE_BASE != 0 {
            let base = src::<u64>(warp, inst.a);
            std::array::from_fn(|lane| base[lane].wrapping_add(offset))
        } else {
            let base = src::<u32>(warp, inst.a);
            std::array::from_fn(|lane| u64::from(base[lane].wrapping_add(offset as u32)))
        }
    }
}

/// Resolves an access of `size` bytes a lane.
///
/// # Safety
/// The instruction is a memory instruction of this space.
#[inline(always)]
pub(crate) unsafe fn resolve<const SPACE: u8>(
    warp: &mut Warp,
    inst: &Inst,
    size: u32,
    access: Access,
) -> Found {
    // SAFETY: the caller's promise.
    let addresses = unsafe { addresses(warp, inst) };
    let bytes = u64::from(size);
    if SPACE == GLOBAL || SPACE == GENERIC {
        let cached = warp.extents[(inst.x >> EXTENT_SHIFT) as usize % EXTENTS];
        let len = if access.writes() {
            cached.writable
        } else {
            cached.len
        };
        let start = addresses[0];
        if warp.is_full() && inst.x & STRONG == 0 {
            let mut difference = 0;
            for lane in 0..LANES {
                difference |= addresses[lane] ^ start.wrapping_add(lane as u64 * bytes);
            }
            let place = start.wrapping_sub(cached.base);
            if difference == 0
                && start & (bytes - 1) == 0
                && place < len
                && len - place >= bytes * 32
            {
                return Found::Contiguous(start as *mut u8);
            }
        }
        let mask = warp.mask;
        let (mut lowest, mut highest, mut low_bits) = (u64::MAX, 0, 0);
        for lane in 0..LANES {
            let on = mask >> lane & 1 != 0;
            let address = addresses[lane];
            lowest = lowest.min(if on { address } else { u64::MAX });
            highest = highest.max(if on { address } else { 0 });
            low_bits |= if on { address } else { 0 };
        }
        let (first, last) = (
            lowest.wrapping_sub(cached.base),
            highest.wrapping_sub(cached.base),
        );
        if low_bits & (bytes - 1) == 0 && first < len && last < len && len - last >= bytes {
            for lane in 0..LANES {
                warp.pointers[lane] = addresses[lane] as *mut u8;
            }
            return Found::Scattered;
        }
    }
    if (SPACE == SHARED_SPACE || SPACE == GENERIC) && !warp.watched {
        let mask = warp.mask;
        let base = if SPACE == GENERIC { SHARED } else { 0 };
        let (mut highest, mut low_bits) = (0, 0);
        for lane in 0..LANES {
            let on = mask >> lane & 1 != 0;
            let place = addresses[lane].wrapping_sub(base);
            highest = highest.max(if on { place } else { 0 });
            low_bits |= if on { place } else { 0 };
        }
        if low_bits & (bytes - 1) == 0
            && highest + bytes <= u64::from(warp.shared_size)
            && highest < WINDOWS
        {
            let shared = warp.shared;
            for lane in 0..LANES {
                let place = addresses[lane].wrapping_sub(base) as usize;
                warp.pointers[lane] = shared.wrapping_add(place);
            }
            return Found::Scattered;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { resolve_slowly(warp, inst, size, access, SPACE, &addresses) }
}

#[cold]
#[inline(never)]
unsafe fn resolve_slowly(
    warp: &mut Warp,
    inst: &Inst,
    size: u32,
    access: Access,
    space: u8,
    addresses: &[u64; LANES],
) -> Found {
    let mut shared = 0u32;
    for lane in lanes_of(warp.mask) {
        match locate(warp, inst, lane, addresses[lane], size, access, space) {
            Some(pointer) => warp.pointers[lane] = pointer,
            None => return Found::Failed,
        }
        if space == SHARED_SPACE || space == GENERIC && window(addresses[lane]) == SHARED {
            shared |= 1 << lane;
        }
    }
    if warp.watched
        && shared != 0
        && super::watch::shared(warp, inst, shared, size, access) == Flow::Fault
    {
        return Found::Failed;
    }
    Found::Scattered
}

/// Checks one lane's access; records a fault if it is refused.
pub(crate) fn locate(
    warp: &mut Warp,
    inst: &Inst,
    lane: usize,
    address: u64,
    size: u32,
    access: Access,
    space: u8,
) -> Option<*mut u8> {
    let (space, place) = match space {
        GENERIC => match window(address) {
            0 => (GLOBAL, address),
            SHARED => (SHARED_SPACE, address - SHARED),
            LOCAL => (LOCAL_SPACE, address - LOCAL),
            PARAMETERS => (PARAMETER_SPACE, address - PARAMETERS),
            FUNCTIONS => {
                let what = format!(
                    "invalid {} of {size} bytes at the address of a function",
                    access.name()
                );
                warp.fail(FaultKind::InvalidAddressSpace, lane, what);
                return None;
            }
            _ => (GLOBAL, address),
        },
        _ => (space, address),
    };
    if access == Access::Atomic && matches!(space, LOCAL_SPACE | PARAMETER_SPACE) {
        let what = format!(
            "atomic operation of {size} bytes in {} memory",
            space_name(space)
        );
        warp.fail(FaultKind::InvalidAddressSpace, lane, what);
        return None;
    }
    if place % u64::from(size) != 0 {
        let what = format!(
            "misaligned {} {} of {size} bytes at {place:#x}",
            space_name(space),
            access.name()
        );
        let notes = vec![format!("the address must be a multiple of {size}")];
        warp.fail_with(FaultKind::MisalignedAddress, lane, what, notes);
        return None;
    }
    match space {
        GLOBAL => global(warp, inst, lane, place, size, access),
        SHARED_SPACE => shared(warp, lane, place, size, access),
        LOCAL_SPACE => {
            let end = place.checked_add(u64::from(size))?;
            let room = warp
                .local_stride
                .min(warp.frames[warp.frame as usize].local_top);
            if end > u64::from(room) {
                return refuse(
                    warp,
                    lane,
                    space,
                    place,
                    size,
                    access,
                    format!("the thread has {room} bytes of it"),
                );
            }
            let at = lane * warp.local_stride as usize + place as usize;
            Some(warp.local.as_mut_ptr().wrapping_add(at))
        }
        _ => {
            let grid = warp.grid();
            let (params, len) = (grid.params.as_ptr(), grid.params.len() as u64);
            if access.writes()
                || place
                    .checked_add(u64::from(size))
                    .is_none_or(|end| end > len)
            {
                let note = match access.writes() {
                    true => "parameters are read-only".to_owned(),
                    false => format!("the kernel has {len} bytes of parameters"),
                };
                return refuse(warp, lane, space, place, size, access, note);
            }
            Some(params.wrapping_add(place as usize).cast_mut())
        }
    }
}

fn space_name(space: u8) -> &'static str {
    match space {
        GLOBAL => "global",
        SHARED_SPACE => "shared",
        LOCAL_SPACE => "local",
        PARAMETER_SPACE => "parameter",
        _ => "generic",
    }
}

#[cold]
fn refuse(
    warp: &mut Warp,
    lane: usize,
    space: u8,
    place: u64,
    size: u32,
    access: Access,
    note: String,
) -> Option<*mut u8> {
    let what = format!(
        "invalid {} {} of {size} bytes at {place:#x}",
        space_name(space),
        access.name()
    );
    warp.fail_with(FaultKind::IllegalAddress, lane, what, vec![note]);
    None
}

fn shared(warp: &mut Warp, lane: usize, place: u64, size: u32, access: Access) -> Option<*mut u8> {
    let offset = place & ((1 << RANK_SHIFT) - 1);
    let rank = place >> RANK_SHIFT;
    let blocks = u64::from(warp.grid().cluster_blocks);
    if offset + u64::from(size) > u64::from(warp.shared_size) || rank > blocks {
        let note = match rank > blocks && blocks > 1 {
            true => format!("the cluster has {blocks} blocks"),
            false => format!("the block has {} bytes of shared memory", warp.shared_size),
        };
        return refuse(warp, lane, SHARED_SPACE, place, size, access, note);
    }
    let base = match rank {
        0 => warp.shared,
        _ => {
            let other = &warp.block().cluster().blocks[rank as usize - 1];
            if other.live == 0 && other.rank != warp.block().rank {
                let [x, y, z] = other.index;
                let note = format!("block ({x},{y},{z}) has exited: its shared memory is gone");
                return refuse(warp, lane, SHARED_SPACE, place, size, access, note);
            }
            other.shared
        }
    };
    Some(base.wrapping_add(offset as usize))
}

fn global(
    warp: &mut Warp,
    inst: &Inst,
    lane: usize,
    address: u64,
    size: u32,
    access: Access,
) -> Option<*mut u8> {
    let bytes = u64::from(size);
    let slot = (inst.x >> EXTENT_SHIFT) as usize % EXTENTS;
    let cached = warp.extents[slot];
    let len = if access.writes() {
        cached.writable
    } else {
        cached.len
    };
    let place = address.wrapping_sub(cached.base);
    if place < len && len - place >= bytes {
        return Some(address as *mut u8);
    }
    let memory = warp.grid().memory;
    let (arena, arena_len) = memory.arena();
    let inside = address.wrapping_sub(arena);
    if !warp.checks.bounds && inside < arena_len && arena_len - inside >= bytes {
        warp.extents[slot] = Cached {
            base: arena,
            len: arena_len,
            writable: arena_len,
        };
        return Some(address as *mut u8);
    }
    match memory.validate(address, bytes, access.writes()) {
        Ok(extent) => {
            let len = extent.end.wrapping_sub(extent.base);
            let place = address.wrapping_sub(extent.base);
            debug_assert!(
                place < len && len - place >= bytes,
                "the memory's answer covers the access"
            );
            warp.extents[slot] = Cached {
                base: extent.base,
                len,
                writable: if extent.writable { len } else { 0 },
            };
            Some(address as *mut u8)
        }
        Err(error) => {
            report_global(warp, lane, address, size, access, error);
            None
        }
    }
}

#[cold]
fn report_global(
    warp: &mut Warp,
    lane: usize,
    address: u64,
    size: u32,
    access: Access,
    error: AccessError,
) {
    let mut notes = Vec::new();
    if address < 4096 {
        notes.push("this looks like a null pointer".into());
    }
    let (kind, why) = match error {
        AccessError::OutOfBounds => (FaultKind::IllegalAddress, "out of bounds"),
        AccessError::Freed => (FaultKind::UseAfterFree, "the memory was freed"),
        AccessError::ReadOnly => (FaultKind::IllegalAddress, "the memory is read-only"),
    };
    let what = format!(
        "invalid global {} of {size} bytes at {address:#x}: {why}",
        access.name()
    );
    let nearest = warp.grid().memory.nearest(address);
    let details = FaultDetails {
        access: Some(FaultAccess {
            kind: access.kind(),
            space: MemorySpace::Global,
            address,
            size,
            nearest: nearest.map(|near| NearestAllocation {
                what: near.what,
                base: near.base,
                size: near.size,
                freed: near.freed,
            }),
        }),
        notes,
        ..FaultDetails::default()
    };
    warp.fail_with(kind, lane, what, details);
}
