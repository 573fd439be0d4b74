//! A kernel's surface has other texels than what it is passed, and is not passed by `&mut`.
// covers: SURF-04

use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;
use warpsmith_host::Extent2;

#[kernel]
pub fn write(image: Surface2d<f32>) {
    let _ = image.mine();
}

fn main() -> Result<()> {
    let gpu = Gpu::open(DeviceChoice::Simulator)?;
    let (stream, kernel) = (gpu.stream()?, gpu.load("")?.kernel(write)?);
    let mut image = stream.surface_array_zeroed::<f32, _>(Extent2 { width: 4, height: 4 })?;
    let surface = image.surface()?;
    stream.launch(&kernel, Grid::new(1, 1), (&surface,))?;
    let mut image = stream.surface_array_zeroed::<u32, _>(Extent2 { width: 4, height: 4 })?;
    let mut surface = image.surface()?;
    stream.launch(&kernel, Grid::new(1, 1), (&mut surface,))
}
