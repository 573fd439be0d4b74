//! Reports of accesses outside of what a thread may access.

use warpsmith_isa::effect::{AccessKind, Space};

use crate::engine::environment::AccessError;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::warp::Warp;
use crate::engine::fault::{
    self, FaultAccess, FaultDetails, FaultKind, MemorySpace, NearestAllocation,
};

/// An access that is refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused {
    pub lane: usize,
    /// The space that the address lies in.
    pub space: Space,
    /// The address in this space.
    pub offset: u64,
    pub size: u32,
    pub kind: AccessKind,
}

/// What an access is called.
pub(super) fn kind_name(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic operation",
    }
}

/// What a space is called.
pub(super) fn space_name(space: Space) -> &'static str {
    match space {
        Space::Generic => "generic",
        Space::Global | Space::Const => "global",
        Space::Shared | Space::SharedCluster => "shared",
        Space::Local => "local",
        Space::Parameter => "parameter",
    }
}

impl Refused {
    /// Records that there is no such memory.
    #[cold]
    pub fn outside(self, warp: &mut Warp, note: String) {
        let what = format!(
            "invalid {} {} of {} bytes at {:#x}",
            space_name(self.space),
            kind_name(self.kind),
            self.size,
            self.offset
        );
        warp.fail_with(FaultKind::IllegalAddress, self.lane, what, vec![note]);
    }

    /// Records that the address is not a multiple of the access's size.
    #[cold]
    pub fn misaligned(self, warp: &mut Warp) {
        let size = self.size;
        let what = format!(
            "misaligned {} {} of {size} bytes at {:#x}",
            space_name(self.space),
            kind_name(self.kind),
            self.offset
        );
        let notes = vec![format!("the address must be a multiple of {size}")];
        warp.fail_with(FaultKind::MisalignedAddress, self.lane, what, notes);
    }

    /// Records that an atomic operation is at an address of a space that has none.
    #[cold]
    pub fn no_atomics(self, warp: &mut Warp) {
        let what = format!(
            "atomic operation of {} bytes in {} memory",
            self.size,
            space_name(self.space)
        );
        warp.fail(FaultKind::InvalidAddressSpace, self.lane, what);
    }

    /// Records that the address is a function's.
    #[cold]
    pub fn function(self, warp: &mut Warp) {
        let what = format!(
            "invalid {} of {} bytes at the address of a function",
            kind_name(self.kind),
            self.size
        );
        warp.fail(FaultKind::InvalidAddressSpace, self.lane, what);
    }

    /// Records that global memory cannot be accessed so, with the nearest allocation.
    #[cold]
    pub fn global(self, warp: &mut Warp, cluster: &Cluster<'_>, error: &AccessError) {
        let (address, size) = (self.offset, self.size);
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
            kind_name(self.kind)
        );
        let nearest = cluster.grid.memory.nearest(address);
        let details = FaultDetails {
            access: Some(FaultAccess {
                kind: match self.kind {
                    AccessKind::Read => fault::AccessKind::Read,
                    AccessKind::Write => fault::AccessKind::Write,
                    AccessKind::Atomic => fault::AccessKind::Atomic,
                },
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
        warp.fail_with(kind, self.lane, what, details);
    }
}
