//! What a device may do with memory that is granted to it: mappings of virtual memory, and pools.

/// What an access right allows (`CU_MEM_ACCESS_FLAGS_PROT_*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// Nothing.
    #[default]
    None = 0,
    /// Loads.
    Read = 1,
    /// Loads and stores.
    ReadWrite = 3,
}
