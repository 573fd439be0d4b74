//! What runs beside the launching graph is for unsafe code to launch, and no later launch gets at a graph.
use warpsmith_device::graph::DeviceGraph;
use warpsmith_device::prelude::*;

#[kernel]
pub fn beside(graph: DeviceGraph) {
    let _ = graph.launch_fire_and_forget();
    let _ = graph.launch_sibling();
}

/// A stand-in for a cell that other launches look into.
struct Once(core::marker::PhantomData<DeviceGraph<'static>>);

impl Once {
    fn set(&self, _: DeviceGraph<'static>) {}
}

static KEPT: Once = Once(core::marker::PhantomData);

#[kernel]
pub fn kept(graph: DeviceGraph) {
    KEPT.set(graph);
}

fn main() {}
