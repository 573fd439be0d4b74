//! Memory that host and device share.

mod atomics;
#[path = "../common/mod.rs"]
mod common;
mod element_types;
mod exclusive;
mod kinds;
mod managed_statics;
mod parts;
mod unified_batches;
