//! A kernel's mipmapped texture is passed as such, and what gathers as what is made for it.
// covers: TEX-12, TEX-17

use warpsmith_device::prelude::*;
use warpsmith_device::texture::Dim2;
use warpsmith_host::prelude::*;
use warpsmith_host::{Coordinates, Extent1, Extent2, LevelOptions, TextureOptions};

#[kernel]
pub fn levels(image: MipmappedTexture<f32, Dim2>) {
    let _ = image;
}

#[kernel]
pub fn gathers(image: GatherTexture2d<f32>) {
    let _ = image;
}

fn main() -> Result<()> {
    let gpu = Gpu::open(DeviceChoice::Simulator)?;
    let stream = gpu.stream()?;
    let (levels, gathers) = (gpu.load("")?.kernel(levels)?, gpu.load("")?.kernel(gathers)?);
    let options = TextureOptions { coordinates: Coordinates::Normalised, ..Default::default() };
    let image = stream.array_zeroed::<f32, _>(Extent2 { width: 4, height: 4 })?;
    stream.launch(&levels, Grid::new(1, 1), (&image.texture(options)?,))?;
    stream.launch(&gathers, Grid::new(1, 1), (&image.texture(options)?,))?;
    let line = stream.mipmapped_array_zeroed::<f32, _>(Extent1 { width: 4 }, 2)?;
    stream.launch(&levels, Grid::new(1, 1), (&line.texture(options, LevelOptions::default())?,))
}
