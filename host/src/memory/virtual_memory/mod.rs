//! Virtual memory: physical memory and the addresses at which it is used, each allocated apart.
//!
//! | file | what |
//! | --- | --- |
//! | `access` | who may do what with mapped memory |
//! | `physical` | [`PhysicalMemory`]: bytes without an address, which other processes may import |
//! | `range` | reserved addresses, and what is mapped into them |
//! | `multicast_object` | a team of devices, and the memory that is bound for each |
//! | `multicast` | [`MulticastBuffer`]: memory of several devices at once |
//! | `growable` | [`GrowableBuffer`]: grows in place |

mod access;
mod growable;
mod multicast;
mod multicast_object;
mod physical;
pub(crate) mod range;

pub use access::MappingAccess;
pub(crate) use access::device_location;
pub use growable::GrowableBuffer;
pub use multicast::{MulticastBuffer, MulticastReplica};
pub use physical::{PhysicalMemory, PhysicalOptions};
