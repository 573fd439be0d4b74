//! Structures whose bytes cannot be copied to the device.
use warpsmith_device::prelude::*;

#[derive(Clone, Copy)]
pub struct NoLayout {
    a: u8,
    b: u32,
}

#[kernel]
pub fn by_value(parameters: NoLayout) {}

#[kernel]
pub fn elements(x: &[NoLayout]) {}

#[kernel]
pub fn outputs(mut y: PerThread<[bool]>) {}

fn main() {}
