//! Who may do what with mapped memory.

use warpsmith_driver::raw;

/// What the device may do with a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingAccess {
    /// Loads. Work that would write it is refused: copies, fills, and launches that take it for writing. A store through a raw pointer is a fault, which
    /// costs the context.
    Read,
    /// Loads and stores.
    ReadWrite,
}

impl MappingAccess {
    pub(super) fn flags(self) -> raw::CUmemAccess_flags {
        match self {
            MappingAccess::Read => raw::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ,
            MappingAccess::ReadWrite => raw::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        }
    }
}

/// A device as a place of memory.
pub(crate) fn device_location(device: raw::CUdevice) -> raw::CUmemLocation {
    let mut location = raw::CUmemLocation {
        type_: raw::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        ..Default::default()
    };
    location.__bindgen_anon_1.id = device;
    location
}
