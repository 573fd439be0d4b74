//! A kernel that fetches from a texture is not launched early.
// covers: PDL-02

use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;
use warpsmith_host::{Extent2, LaunchOptions, TextureOptions};

#[kernel]
pub fn fetch(image: Texture2d<f32>) {
    let _ = image;
}

fn main() -> Result<()> {
    let gpu = Gpu::open(DeviceChoice::Simulator)?;
    let (stream, kernel) = (gpu.stream()?, gpu.load("")?.kernel(fetch)?);
    let image = stream.array_zeroed::<f32, _>(Extent2 { width: 4, height: 4 })?;
    let texture = image.texture(TextureOptions::default())?;
    stream.launch_early(&kernel, Grid::new(1, 1), &LaunchOptions::new(), (&texture,))
}
