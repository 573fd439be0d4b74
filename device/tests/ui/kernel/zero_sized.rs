//! PTX has no parameters without size.
use warpsmith_device::prelude::*;

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Nothing;

#[kernel]
pub fn zero_sized(nothing: Nothing) {}

fn main() {}
