//! Launches: their attributes and limits, what runs at the same time, and faults.

mod attributes;
mod capabilities;
#[path = "../common/mod.rs"]
mod common;
mod device_attributes;
mod device_runtime;
mod faults;
