//! A texture of a buffer keeps writers out, and ends with it.
// covers: TEX-11

use warpsmith_host::prelude::*;
use warpsmith_host::TextureOptions;

fn main() -> Result<()> {
    let gpu = Gpu::open(DeviceChoice::Simulator)?;
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(8)?;
    let texture = words.texture(..)?;
    stream.fill(&mut words, 1)?;
    println!("{}", texture.object());

    let image = stream.pitched_zeroed::<f32>(4, 4)?;
    let texture = image.texture(TextureOptions::default())?;
    drop(image);
    println!("{}", texture.object());
    Ok(())
}
