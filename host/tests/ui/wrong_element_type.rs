//! A kernel of f32 gets a buffer of f64.

use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;

#[kernel]
pub fn copy(x: &[f32], mut y: PerThread<[f32]>) {
    let _ = (x, y.mine());
}

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let (stream, kernel) = (gpu.stream()?, gpu.load("")?.kernel(copy)?);
    let x = stream.zeroed::<f64>(8)?;
    let mut y = stream.zeroed::<f32>(8)?;
    stream.launch(&kernel, Grid::cover(8, 32), (&x, &mut y))
}
