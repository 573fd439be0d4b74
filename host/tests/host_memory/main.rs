//! Memory that host and device share.

mod atomics;
#[path = "../common/mod.rs"]
mod common;
mod exclusive;
mod kinds;
mod parts;
