//! A kernel's texture has other dimensions or gives other numbers than what it is passed.
// covers: TEX-02

use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;
use warpsmith_host::{Extent1, Extent2, TextureOptions};

#[kernel]
pub fn fetch(image: Texture2d<f32>) {
    let _ = image;
}

fn main() -> Result<()> {
    let gpu = Gpu::open(DeviceChoice::Simulator)?;
    let (stream, kernel) = (gpu.stream()?, gpu.load("")?.kernel(fetch)?);
    let options = TextureOptions::default();
    let line = stream.array_zeroed::<f32, _>(Extent1 { width: 4 })?;
    stream.launch(&kernel, Grid::new(1, 1), (&line.texture(options)?,))?;
    let image = stream.array_zeroed::<u8, _>(Extent2 { width: 4, height: 4 })?;
    stream.launch(&kernel, Grid::new(1, 1), (&image.texture(options)?,))?;
    // Normalised it is floats.
    stream.launch(&kernel, Grid::new(1, 1), (&image.normalised_texture(options)?,))
}
