//! One buffer is two outputs of a kernel.

use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;

#[kernel]
pub fn split(mut a: PerThread<[f32]>, mut b: PerThread<[f32]>) {
    let _ = (a.mine(), b.mine());
}

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let (stream, kernel) = (gpu.stream()?, gpu.load("")?.kernel(split)?);
    let mut y = stream.zeroed::<f32>(8)?;
    stream.launch(&kernel, Grid::cover(8, 32), (&mut y, &mut y))
}
