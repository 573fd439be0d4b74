//! Textures and surfaces live as long as the launch, have texels that exist, and give a thread its texel once.
use warpsmith_device::dependent::AfterPrimary;
use warpsmith_device::prelude::*;
use warpsmith_device::texture::{Dim2, Mipmapped, OwnTexel, Positioned, Surface, Texture};

#[kernel]
pub fn fetches_early(image: AfterPrimary<Texture2d<f32>>) {
    let _ = image;
}

#[kernel]
pub fn writes_early(image: AfterPrimary<Surface2d<f32>>) {
    let _ = image;
}

#[kernel]
pub fn three_components(image: Texture2d<[f32; 3]>) {
    let _ = image;
}

#[kernel]
pub fn doubles(image: Surface2d<f64>) {
    let _ = image;
}

#[kernel]
pub fn for_ever(image: Texture2d<'static, f32>) {
    let _ = image;
}

#[kernel]
pub fn another_dimension(image: Texture2d<f32>) {
    let _ = image.fetch(0.5);
}

#[kernel]
pub fn copies_a_surface(image: Surface2d<f32>) {
    let _ = (image, image);
}

#[kernel]
pub fn takes_its_texel_twice(image: Surface2d<f32>) {
    let (a, b) = (image.mine(), image.mine());
    let _ = (a, b);
}

#[kernel]
pub fn takes_its_texel_in_a_loop(image: Surface2d<f32>) {
    for _ in 0..2 {
        let _ = image.mine();
    }
}

#[kernel]
pub fn reads_what_it_wrote(image: Surface2d<f32>) {
    if let Some(texel) = image.mine() {
        texel.write(1.0);
        let _ = texel.read();
    }
}

#[kernel]
pub fn writes_twice(image: Surface2d<f32>) {
    if let Some(texel) = image.mine() {
        texel.write(1.0);
        texel.write(2.0);
    }
}

#[kernel]
pub fn reads_another(image: Surface2d<f32>) {
    let _ = image.read_at([0, 0]);
}

#[kernel]
pub fn writes_another(image: Surface2d<f32>) {
    image.write_at([0, 0], 1.0);
}

#[kernel]
pub fn writes_bytes(image: Surface2d<f32>) {
    image.write_at_byte([0, 0], 1_u8);
}

#[kernel]
pub fn gathers_from_any_image(image: Texture2d<f32>) {
    let _ = image.gather::<0>(0.5, 0.5);
}

#[kernel]
pub fn fetches_from_no_level(image: MipmappedTexture<f32, Dim2>) {
    let _ = image.fetch(0.5, 0.5);
}

#[kernel]
pub fn writes_levels(image: Surface<f32, Mipmapped<Dim2>>) {
    let _ = image;
}

pub fn made_by_hand<'a>() -> Texture<'a, f32, warpsmith_device::texture::Dim2> {
    unsafe { Texture::from_raw_parts(1, [1, 1, 1]) }
}

pub fn own_texel_by_hand<'a, D: Positioned>(from: OwnTexel<'a, f32, D>) -> OwnTexel<'a, f32, D> {
    OwnTexel { at: [0; 3], ..from }
}

fn main() {}
