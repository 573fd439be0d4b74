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
    /// What the address must be a multiple of.
    pub align: u32,
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
    /// The access as data, with further lines for the report.
    fn details(self, notes: Vec<String>) -> FaultDetails {
        FaultDetails {
            access: Some(FaultAccess {
                kind: match self.kind {
                    AccessKind::Read => fault::AccessKind::Read,
                    AccessKind::Write => fault::AccessKind::Write,
                    AccessKind::Atomic => fault::AccessKind::Atomic,
                },
                space: match self.space {
                    Space::Generic => MemorySpace::Other,
                    Space::Global => MemorySpace::Global,
                    Space::Const => MemorySpace::Constant,
                    Space::Shared | Space::SharedCluster => MemorySpace::Shared,
                    Space::Local => MemorySpace::Local,
                    Space::Parameter => MemorySpace::Parameter,
                },
                address: self.offset,
                size: self.size,
                nearest: None,
            }),
            notes,
            ..FaultDetails::default()
        }
    }

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
        let details = self.details(vec![note]);
        warp.fail_with(FaultKind::IllegalAddress, self.lane, what, details);
    }

    /// Records that the bytes, at an offset in a block's shared memory, are not all of one variable.
    #[cold]
    pub fn between_variables(self, warp: &mut Warp, cluster: &Cluster<'_>, offset: u64) {
        let what = format!(
            "invalid shared {} of {} bytes at {:#x}: out of bounds",
            kind_name(self.kind),
            self.size,
            self.offset
        );
        let mut details = self.details(Vec::new());
        if let Some(access) = &mut details.access {
            let grid = cluster.grid;
            access.nearest = grid.shared_map.nearest(offset).map(|near| {
                NearestAllocation {
                    what: near.name(grid.program),
                    // As an address of the block that the access goes to.
                    base: self.offset - offset + u64::from(near.start),
                    size: u64::from(near.end - near.start),
                    freed: false,
                }
            });
        }
        warp.fail_with(FaultKind::IllegalAddress, self.lane, what, details);
    }

    /// Records that the address is not a multiple of what it must be.
    #[cold]
    pub fn misaligned(self, warp: &mut Warp) {
        let size = self.size;
        let what = format!(
            "misaligned {} {} of {size} bytes at {:#x}",
            space_name(self.space),
            kind_name(self.kind),
            self.offset
        );
        let align = self.align;
        let details = self.details(vec![format!("the address must be a multiple of {align}")]);
        warp.fail_with(FaultKind::MisalignedAddress, self.lane, what, details);
    }

    /// Records that an atomic operation is at an address of a space that has none.
    #[cold]
    pub fn no_atomics(self, warp: &mut Warp) {
        let what = format!(
            "atomic operation of {} bytes in {} memory",
            self.size,
            space_name(self.space)
        );
        let details = self.details(Vec::new());
        warp.fail_with(FaultKind::InvalidAddressSpace, self.lane, what, details);
    }

    /// Records that the address is a function's.
    #[cold]
    pub fn function(self, warp: &mut Warp) {
        let what = format!(
            "invalid {} of {} bytes at the address of a function",
            kind_name(self.kind),
            self.size
        );
        let details = self.details(Vec::new());
        warp.fail_with(FaultKind::InvalidAddressSpace, self.lane, what, details);
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
            AccessError::NotAllocated => (
                FaultKind::IllegalAddress,
                "the memory of the graph is not allocated",
            ),
            AccessError::Unordered => (
                FaultKind::IllegalAddress,
                "no edges of the graph order this node between the allocation and the free of the memory",
            ),
            AccessError::ReadOnly => (FaultKind::IllegalAddress, "the memory is read-only"),
            AccessError::Unmapped => (FaultKind::IllegalAddress, "nothing is mapped there"),
            AccessError::NotGranted => (
                FaultKind::IllegalAddress,
                "this device has not been granted access to the memory",
            ),
            AccessError::NoPeerAccess => (
                FaultKind::IllegalAddress,
                "it is memory of another device, and peer access to that is not enabled",
            ),
            AccessError::Multicast => (
                FaultKind::IllegalAddress,
                "it is an address of a multicast object, which multimem instructions alone use",
            ),
            AccessError::NotMulticast => (
                FaultKind::IllegalAddress,
                "a multimem instruction uses addresses of multicast objects alone",
            ),
            AccessError::NotBound { device } => {
                notes.push(format!(
                    "device {device} of the team has none (cuMulticastBindMem)"
                ));
                (
                    FaultKind::IllegalAddress,
                    "not all devices of the multicast object's team have memory bound there",
                )
            }
        };
        let what = format!(
            "invalid global {} of {size} bytes at {address:#x}: {why}",
            kind_name(self.kind)
        );
        let mut details = self.details(notes);
        if let Some(access) = &mut details.access {
            let nearest = cluster.grid.memory.nearest(address);
            access.nearest = nearest.map(|near| NearestAllocation {
                what: near.what,
                base: near.base,
                size: near.size,
                freed: near.freed,
            });
        }
        warp.fail_with(kind, self.lane, what, details);
    }
}
