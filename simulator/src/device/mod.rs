//! The simulated devices: what they report about themselves, as data, and how much of their memory is in use.

mod bus_address;
mod capacity;
mod catalog;
mod h200;
mod profile;
mod visible;

pub(crate) use bus_address::{BusAddress, bus_address};
pub(crate) use capacity::{
    PIECE, exceeds_host, give_memory, memory_info, take_memory, total_memory,
};
pub(crate) use catalog::{DRIVER_VERSION, compute_capability, profile};
pub(crate) use visible::{count, identity, in_machine, known_or_unseen, of_machine};
