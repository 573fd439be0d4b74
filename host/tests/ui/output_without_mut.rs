//! What a kernel writes is passed by `&`.

use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;

#[kernel]
pub fn clear(mut y: PerThread<[f32]>) {
    let _ = y.mine();
}

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let (stream, kernel) = (gpu.stream()?, gpu.load("")?.kernel(clear)?);
    let y = stream.zeroed::<f32>(8)?;
    stream.launch(&kernel, Grid::cover(8, 32), (&y,))
}
