//! Parameters that no kernel takes.
use warpsmith_device::prelude::*;

#[kernel]
pub fn exclusive(x: &mut [f32]) {}

#[kernel]
pub fn raw_in_safe(x: *mut f32) {}

#[kernel]
pub fn hidden_type(x: impl Copy) {}

#[kernel]
pub fn pattern((a, b): (u32, u32)) {}

#[kernel]
pub fn tuple(pair: (u32, u32)) {}

#[kernel]
pub fn boolean(flag: bool) {}

#[kernel]
pub fn text(text: &str) {}

#[kernel]
pub fn object(object: &dyn Fn()) {}

#[kernel]
pub fn function(f: fn(f32) -> f32) {}

#[kernel]
pub fn element_missing(y: PerThread) {}

#[kernel]
pub fn not_a_slice(y: PerThread<f32>) {}

fn main() {}
