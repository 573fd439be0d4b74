//! Virtual memory: physical allocations, reserved ranges of addresses, and mappings of the ones into the others.
//!
//! A physical allocation is a file in memory, sealed in its size, so that one that is mapped twice has the same bytes at both addresses,
//! and a file descriptor of it is what another process imports. A mapping is an allocation of the address space like any other, but
//! that it ends with `cuMemUnmap`, that each device's access is granted apart, and that an access may go on from one to the next.
//!
//! | file | what |
//! | --- | --- |
//! | `mappable` | what a handle names: physical memory, or a multicast object |
//! | `multicast` | multicast objects: the team, and the memory that is bound |
//! | `physical` | physical allocations, their handles, export and import |
//! | `rights` | which device, and whether the host, may access a mapping |
//! | `ranges` | reservations and mappings, by address |

mod handles;
mod mappable;
mod multicast;
mod physical;
mod ranges;
mod rights;

pub(crate) use mappable::Mappable;
pub(crate) use multicast::Multicast;
pub(super) use physical::held_memory;
pub(crate) use physical::{HandleTypes, Physical, PhysicalProperties, handle_of};
pub(crate) use ranges::{
    AliasedPages, access_of, free_range, map, mapped_at, memory_at, reserve, reserved_around,
    set_access, unmap,
};
pub(super) use ranges::{describe, replicas, validate};

/// What sizes and addresses of physical memory, reservations and mappings are multiples of, as on an H200.
pub(crate) const GRANULARITY: usize = 2 << 20;
