//! Textures and surfaces.

use warpsmith_host::{
    AddressMode, Coordinates, Extent2, Filter, LevelOptions, MipmappedArray, Result, TextureOptions,
};

use super::arrays::{SQUARE, square};
use crate::row::{Row, rows};
use crate::world::World;

/// Texels wrap by normalised coordinates only.
fn wraps() -> TextureOptions {
    TextureOptions {
        address: [AddressMode::Wrap; 3],
        coordinates: Coordinates::Texels,
        ..Default::default()
    }
}

fn filters() -> TextureOptions {
    TextureOptions {
        filter: Filter::Linear,
        ..Default::default()
    }
}

fn normalised() -> TextureOptions {
    TextureOptions {
        coordinates: Coordinates::Normalised,
        ..Default::default()
    }
}

fn levels<T: warpsmith_host::Texel>(w: &World) -> Result<MipmappedArray<T, Extent2>> {
    w.stream.mipmapped_array_zeroed(SQUARE, 2)
}

pub fn rows() -> Vec<Row> {
    rows! {
        "Array::texture", "texels that wrap" => Invalid, |w| square(w)?.texture(wraps());
        "Array::texture", "integers between texels" => Invalid, |w| square(w)?.texture(filters());
        "Array::normalised_texture", "texels that wrap" => Invalid, |w| w.stream.array_zeroed::<u8, _>(SQUARE)?.normalised_texture(wraps());
        "Array::srgb_texture", "texels that wrap" => Invalid, |w| w.stream.array_zeroed::<[u8; 4], _>(SQUARE)?.srgb_texture(wraps());
        "Array::surface", "an array made without" => Invalid, |w| w.stream.array_zeroed::<u32, _>(SQUARE)?.surface();
        "Array::block_texture", "texels that wrap" => Invalid, |w| {
            w.stream.array_zeroed::<[u32; 2], _>(SQUARE)?.block_texture::<warpsmith_host::compressed::Bc1>(wraps())
        };
        "MipmappedArray::texture", "coordinates in texels" => Invalid, |w| levels::<u32>(w)?.texture(TextureOptions { coordinates: Coordinates::Texels, ..Default::default() }, LevelOptions::default());
        "MipmappedArray::texture", "a clamp that is turned around" => Invalid, |w| levels::<u32>(w)?.texture(normalised(), LevelOptions { clamp: [2.0, 1.0], ..Default::default() });
        "MipmappedArray::texture", "a bias that is no number" => Invalid, |w| levels::<u32>(w)?.texture(normalised(), LevelOptions { bias: f32::NAN, ..Default::default() });
        "MipmappedArray::texture", "no anisotropy" => Invalid, |w| levels::<u32>(w)?.texture(normalised(), LevelOptions { anisotropy: 0, ..Default::default() });
        "MipmappedArray::texture", "more anisotropy than there is" => Invalid, |w| levels::<u32>(w)?.texture(normalised(), LevelOptions { anisotropy: 17, ..Default::default() });
        "MipmappedArray::texture", "integers between levels" => Invalid, |w| levels::<u32>(w)?.texture(normalised(), LevelOptions { filter: Filter::Linear, ..Default::default() });
        "MipmappedArray::normalised_texture", "a clamp below 0" => Invalid, |w| levels::<u8>(w)?.normalised_texture(normalised(), LevelOptions { clamp: [-1.0, 1.0], ..Default::default() });
        "MipmappedArray::block_texture", "coordinates in texels" => Invalid, |w| {
            levels::<[u32; 2]>(w)?.block_texture::<warpsmith_host::compressed::Bc1>(TextureOptions { coordinates: Coordinates::Texels, ..Default::default() }, LevelOptions::default())
        };
        "TexelView::texture", "texels that wrap" => Invalid, |w| square(w)?.view_as::<f32>().texture(wraps());
        "TexelView::normalised_texture", "texels that wrap" => Invalid, |w| square(w)?.view_as::<[u8; 4]>().normalised_texture(wraps());
        "TexelView::srgb_texture", "texels that wrap" => Invalid, |w| square(w)?.view_as::<[u8; 4]>().srgb_texture(wraps());
        "DeviceBuffer::texture", "a part that begins anywhere" => Limit, |w| w.words.texture(1..);
        "DeviceBuffer::texture", "nothing" => Invalid, |w| w.words.texture(3..3);
        "DeviceBuffer::texture", "memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            graph.zeroed::<u32>(64)?.texture(..).map(drop)
        };
        "DeviceBuffer::texture", "more texels than a texture has" => Limit, |w| w.stream.zeroed::<u8>((1 << 28) + 1)?.texture(..).map(drop);
        "DeviceBuffer::normalised_texture", "a part that begins anywhere" => Limit, |w| w.stream.zeroed::<u8>(64)?.normalised_texture(1..).map(drop);
        "PitchedBuffer::texture", "texels that wrap" => Invalid, |w| w.stream.pitched_zeroed::<u32>(8, 8)?.texture(wraps()).map(drop);
        "PitchedBuffer::texture", "no rows" => Invalid, |w| w.stream.pitched_zeroed::<u32>(0, 8)?.texture(TextureOptions::default()).map(drop);
        "PitchedBuffer::texture", "no columns" => Invalid, |w| w.stream.pitched_zeroed::<u32>(8, 0)?.texture(TextureOptions::default()).map(drop);
        "PitchedBuffer::texture", "more rows than a texture has" => Limit, |w| w.stream.pitched_zeroed::<u8>(1 << 17, 1)?.texture(TextureOptions::default()).map(drop);
        "PitchedBuffer::normalised_texture", "texels that wrap" => Invalid, |w| w.stream.pitched_zeroed::<u8>(8, 8)?.normalised_texture(wraps()).map(drop);
    }
}
