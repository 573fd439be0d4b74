//! One buffer is input and output of a kernel, and overlapping parts of one are.

use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;

#[kernel]
pub fn copy(x: &[f32], mut y: PerThread<[f32]>) {
    let _ = (x, y.mine());
}

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let (stream, kernel) = (gpu.stream()?, gpu.load("")?.kernel(copy)?);
    let mut y = stream.zeroed::<f32>(8)?;
    stream.launch(&kernel, Grid::cover(8, 32), (&y, &mut y))?;
    stream.launch(&kernel, Grid::cover(8, 32), (y.slice(0..4), y.slice_mut(2..6)))
}
