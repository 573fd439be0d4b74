//! A condition is what a launch passes.

use warpsmith_device::graph::{self, Condition};
use warpsmith_device::prelude::*;

#[kernel]
pub fn kept(condition: Condition<'static>) {
    condition.set(1);
}

#[kernel]
pub fn by_its_number(handle: u64) {
    graph::set_conditional(handle, 1);
}

#[kernel]
pub fn held(_conditions: &[Condition]) {}

fn main() {}
