//! Where memory lies.

/// What stands for the host where an allocation has the number of its device: no device has it.
pub(super) const HOST: usize = usize::MAX / 2;

/// Where memory lies, or who accesses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryLocation {
    /// On a device.
    Device(usize),
    /// On the host; on this node of it, if one was named.
    Host {
        /// The system's number of the node.
        node: Option<i32>,
    },
}

impl MemoryLocation {
    /// The device; `None` on the host.
    pub(crate) fn device(self) -> Option<usize> {
        match self {
            MemoryLocation::Device(device) => Some(device),
            MemoryLocation::Host { .. } => None,
        }
    }
}
