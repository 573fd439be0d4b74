//! A kernel that can read memory before the kernel before it has ended is no node that begins early, neither when it is added nor by a change.
// covers: PDL-06

use warpsmith_device::dependent::AfterPrimary;
use warpsmith_device::prelude::*;
use warpsmith_host::{LaunchOptions, Trigger};
use warpsmith_host::prelude::*;

#[kernel]
pub fn consume(x: &[f32], y: AfterPrimary<PerThread<[f32]>>) {
    let _ = (x, y.wait());
}

fn main() -> Result<()> {
    let gpu = Gpu::open(DeviceChoice::Simulator)?;
    let kernel = gpu.load("")?.kernel(consume)?;
    let stream = gpu.stream()?;
    let x = stream.zeroed::<f32>(1)?;
    let mut y = stream.zeroed::<f32>(1)?;
    let mut graph = gpu.graph()?;
    let options = LaunchOptions::new();
    let grid = Grid::new(1, 1);
    let node = graph.kernel_early(&kernel, grid, &options, Trigger::BlocksSignalled, (&x, &mut y))?;
    graph.instantiate()?.set_kernel_early(node, &kernel, grid, (&x, &mut y))
}
