//! A kernel of three parameters gets two arguments.

use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;

#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {
    let _ = (a, x, y.mine());
}

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let (stream, kernel) = (gpu.stream()?, gpu.load("")?.kernel(saxpy)?);
    let mut y = stream.zeroed::<f32>(8)?;
    stream.launch(&kernel, Grid::cover(8, 32), (2.0, &mut y))
}
