//! Which devices, and whether the host, may access a mapping.

use std::collections::BTreeMap;

use crate::memory::access::Access;
use crate::memory::location::MemoryLocation;

/// The rights of one mapping: none until they are granted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rights(BTreeMap<Accessor, Access>);

/// Who accesses. The host is one, whichever its nodes are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Accessor {
    Device(usize),
    Host,
}

impl From<MemoryLocation> for Accessor {
    fn from(location: MemoryLocation) -> Self {
        match location {
            MemoryLocation::Device(device) => Accessor::Device(device),
            MemoryLocation::Host { .. } => Accessor::Host,
        }
    }
}

impl Rights {
    pub(super) fn of(&self, location: MemoryLocation) -> Access {
        self.0.get(&location.into()).copied().unwrap_or_default()
    }

    /// The most that anyone may do.
    pub(super) fn strongest(&self) -> Access {
        self.0.values().copied().max().unwrap_or_default()
    }

    pub(super) fn set(&mut self, location: MemoryLocation, access: Access) {
        self.0.insert(location.into(), access);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_is_one_devices() {
        let mut rights = Rights::default();
        rights.set(MemoryLocation::Device(1), Access::Read);
        rights.set(MemoryLocation::Host { node: Some(0) }, Access::ReadWrite);
        assert_eq!(rights.of(MemoryLocation::Device(0)), Access::None);
        assert_eq!(rights.of(MemoryLocation::Device(1)), Access::Read);
        assert_eq!(
            rights.of(MemoryLocation::Host { node: None }),
            Access::ReadWrite
        );
        assert_eq!(rights.strongest(), Access::ReadWrite);
        assert_eq!(Rights::default().strongest(), Access::None);
    }
}
