//! What is filled and not read lacks a barrier.
#![deny(unused_must_use)]
use warpsmith_device::prelude::*;

#[kernel]
pub fn nobody_reads_it() {
    shared!([u32; 64]).write(1);
}

fn main() {}
