//! A kernel that can read memory before the kernel before it has ended is not launched early.
// covers: PDL-02

use warpsmith_device::dependent::AfterPrimary;
use warpsmith_device::prelude::*;
use warpsmith_host::LaunchOptions;
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
    stream.launch_early(&kernel, Grid::new(1, 1), &LaunchOptions::new(), (&x, &mut y))
}
