//! CUDA arrays, and the objects by which kernels read and write texels.

use warpsmith_host::prelude::*;
use warpsmith_host::{
    Coordinates, Extent1, Extent2, Extent3, Layered2, LevelOptions, TextureOptions,
};
use warpsmith_testkit::ptx;

use crate::world::{Case, World, leave_nothing};

const SIZE: Extent2 = Extent2 {
    width: 8,
    height: 4,
};

const NORMALISED: TextureOptions = TextureOptions {
    address: [warpsmith_host::AddressMode::Clamp; 3],
    filter: warpsmith_host::Filter::Point,
    coordinates: Coordinates::Normalised,
    border: [0.0; 4],
};

/// An entry that takes a texture and a surface.
const TAKES: &str = ptx!(
    "7.8",
    "sm_80",
    ".visible .entry takes(.param .u64 texture, .param .u64 surface) { ret; }"
);

type Takes = UntypedKernel<(TextureObject, SurfaceObject)>;

fn arrays(world: &World, round: usize) -> Result<()> {
    let stream = &world.stream;
    let line = stream.array(&[1_u8, 2, 3], Extent1 { width: 3 })?;
    let mut image = stream.array_zeroed::<f32, _>(SIZE)?;
    let block = Extent3 {
        width: 2,
        height: 2,
        depth: 2,
    };
    let layers = Layered2 {
        width: 2,
        height: 2,
        layers: 3,
    };
    drop((
        stream.array_zeroed::<u32, _>(block)?,
        stream.surface_array_zeroed::<[u16; 4], _>(layers)?,
    ));
    stream.upload_array(&[1.0; 32], &mut image)?;
    let mut copy = world.other.array_zeroed::<f32, _>(SIZE)?;
    world.other.copy_array(&image, &mut copy)?;
    if round.is_multiple_of(4) {
        assert_eq!(stream.download_array(&copy)?, [1.0; 32]);
        assert_eq!(stream.download_array(&line)?, [1, 2, 3]);
    }
    Ok(())
}

fn textures(world: &World, round: usize) -> Result<()> {
    let stream = &world.stream;
    let takes: Takes = world.gpu.load(TAKES)?.untyped_kernel("takes")?;
    let image = stream.array_zeroed::<f32, _>(SIZE)?;
    let mut target = stream.surface_array_zeroed::<f32, _>(SIZE)?;
    let texture = image.texture(TextureOptions::default())?;
    let other = image.texture(NORMALISED)?;
    let mut surface = target.surface()?;
    // SAFETY: the entry does nothing.
    unsafe { stream.launch_untyped(&takes, Grid::new(1, 1), (&texture, &mut surface)) }?;
    // SAFETY: the entry does nothing.
    unsafe {
        world
            .other
            .launch_untyped(&takes, Grid::new(1, 1), (&other, &mut surface))
    }?;
    match round % 3 {
        0 => drop((image, target, texture, other, surface)),
        1 => drop((surface, other, texture, target, image)),
        _ => drop((texture, image, other, surface, target)),
    }
    Ok(())
}

fn textures_of_buffers(world: &World, _: usize) -> Result<()> {
    let words = world.stream.upload(&[1_u32; 300])?;
    assert_ne!(words.texture(..)?.object(), 0);
    let image = world.stream.pitched_zeroed::<f32>(3, 70)?;
    let (one, two) = (
        image.texture(TextureOptions::default())?,
        image.texture(NORMALISED)?,
    );
    assert_ne!(one.object(), two.object());
    Ok(())
}

fn mipmaps(world: &World, round: usize) -> Result<()> {
    let stream = &world.stream;
    let whole = stream.surface_mipmapped_array_zeroed::<u16, _>(SIZE, 3)?;
    let texture = whole.texture(NORMALISED, LevelOptions::default())?;
    let mut level = whole.level(1);
    let surface = level.surface()?;
    stream.upload_array(&[5; 8], &mut level)?;
    if round.is_multiple_of(2) {
        drop((whole, texture));
        assert_eq!(stream.download_array(&level)?, [5; 8]);
    }
    drop((surface, level));
    Ok(())
}

#[test]
fn of_arrays() {
    leave_nothing(&[
        Case::new("arrays", arrays),
        Case::new("textures and surfaces", textures),
        Case::new("textures of buffers", textures_of_buffers),
        Case::new("mipmapped arrays", mipmaps),
    ]);
}
