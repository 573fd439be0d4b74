//! A graph is there for the launch that it is passed to: none is made, found in memory, or kept for ever.
use warpsmith_device::graph::{self, DeviceGraph};
use warpsmith_device::prelude::*;

#[kernel]
pub fn for_ever(graph: DeviceGraph<'static>) {}

#[kernel]
pub fn listed(graphs: &[DeviceGraph<'_>]) {}

#[kernel]
pub fn made(handle: u64) {
    let _ = DeviceGraph::from_raw(handle).launch_tail();
}

/// A stand-in for a cell that other launches look into.
struct Once<T>(core::marker::PhantomData<T>);

static CURRENT: Once<graph::CurrentGraph> = Once(core::marker::PhantomData);

fn main() {}
