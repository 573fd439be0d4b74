//! An unsafe kernel is launched like a safe one.

use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;

#[kernel]
pub unsafe fn store(p: *mut f32) {
    let _ = p;
}

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let (stream, kernel) = (gpu.stream()?, gpu.load("")?.kernel(store)?);
    let mut y = stream.zeroed::<f32>(8)?;
    stream.launch(&kernel, Grid::cover(8, 32), (&mut y,))?;
    gpu.graph()?.kernel(&kernel, Grid::cover(8, 32), (&mut y,)).map(drop)
}
