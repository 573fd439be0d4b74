//! Generic addresses. Global memory (constants included) has its host address; the other spaces are windows above every
//! host address, so that no pointer of one space can be taken for one of another.

/// Addresses below this are host addresses.
pub(crate) const WINDOWS: u64 = 1 << 48;
/// Shared memory of the block (low 24 bits: offset) and of the blocks of its cluster (bits 24 and up: rank + 1).
pub(crate) const SHARED: u64 = 1 << 48;
/// Local memory of the thread.
pub(crate) const LOCAL: u64 = 2 << 48;
/// The kernel's parameters.
pub(crate) const PARAMETERS: u64 = 3 << 48;
/// Functions: the index of one, times 16.
pub(crate) const FUNCTIONS: u64 = 4 << 48;

/// Where the rank starts in an address of shared memory.
pub(crate) const RANK_SHIFT: u32 = 24;

/// Which window an address lies in: 0 for a host address.
#[inline(always)]
pub(crate) fn window(address: u64) -> u64 {
    address & !(WINDOWS - 1)
}
