//! What kernels may launch was made for it: a graph that only the host launches is no such argument, nor is a number.

use warpsmith_device::graph;
use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;

#[kernel]
pub fn launches(next: graph::DeviceGraph) {
    let _ = next.launch_tail();
}

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let kernel = gpu.load("")?.kernel(launches)?;
    let ready = gpu.graph()?.instantiate()?;
    let mut graph = gpu.graph()?;
    graph.kernel(&kernel, Grid::new(1, 1), (&ready,))?;
    graph.kernel(&kernel, Grid::new(1, 1), (7_u64,))?;
    Ok(())
}
