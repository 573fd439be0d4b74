//! Arguments of `#[kernel]`.
use warpsmith_device::prelude::*;

#[kernel(fast)]
pub fn unknown(x: &[f32]) {}

#[kernel(launch_bounds(256, min_block = 2))]
pub fn unknown_bound(x: &[f32]) {}

#[kernel(launch_bounds(64, 32))]
pub fn too_many_threads(x: &[f32]) {}

#[kernel(launch_bounds(0))]
pub fn no_threads(x: &[f32]) {}

#[kernel(launch_bounds(256), max_registers = 32)]
pub fn two_limits(x: &[f32]) {}

#[kernel(max_registers = 300)]
pub fn too_many_registers(x: &[f32]) {}

#[kernel(cluster(4, 4, 2))]
pub fn large_cluster(x: &[f32]) {}

#[kernel(launch_bounds(64, max_cluster = 4), cluster(2))]
pub fn two_clusters(x: &[f32]) {}

#[kernel(name = "not a name")]
pub fn named(x: &[f32]) {}

#[kernel(fmad = true, fmad = false)]
pub fn twice(x: &[f32]) {}

fn main() {}
