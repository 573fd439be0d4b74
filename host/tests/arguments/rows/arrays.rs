//! Arrays and their copies.

use warpsmith_host::{Array, CopyBatch, Extent1, Extent2, Extent3, Layered1, MipmappedArray};
use warpsmith_host::{Cube, Result};

use crate::row::{Row, rows};
use crate::world::World;

pub const SQUARE: Extent2 = Extent2 {
    width: 8,
    height: 8,
};
const ORIGIN: Extent2 = Extent2 {
    width: 0,
    height: 0,
};
const NOTHING: Extent2 = Extent2 {
    width: 8,
    height: 0,
};
const BEYOND: Extent2 = Extent2 {
    width: 8,
    height: 9,
};
const OVERFLOW: Extent2 = Extent2 {
    width: 8,
    height: usize::MAX,
};
const CORNER: Extent2 = Extent2 {
    width: 1,
    height: 1,
};

pub fn square(w: &World) -> Result<Array<u32, Extent2>> {
    w.stream.surface_array_zeroed(SQUARE)
}

fn levels(w: &World, count: usize) -> Result<MipmappedArray<u32, Extent2>> {
    w.stream.mipmapped_array_zeroed(SQUARE, count)
}

pub fn rows() -> Vec<Row> {
    rows! {
        "Stream::array_zeroed", "no height" => Limit, |w| w.stream.array_zeroed::<f32, _>(NOTHING);
        "Stream::array_zeroed", "more than a device's height" => Limit, |w| w.stream.array_zeroed::<f32, _>(OVERFLOW);
        "Stream::array_zeroed", "more than a device's depth" => Limit, |w| w.stream.array_zeroed::<f32, _>(Extent3 { width: 1, height: 1, depth: 1 << 20 });
        "Stream::array_zeroed", "no layers" => Limit, |w| w.stream.array_zeroed::<f32, _>(Layered1 { width: 4, layers: 0 });
        "Stream::array_zeroed", "a cube of no width" => Limit, |w| w.stream.array_zeroed::<f32, _>(Cube { width: 0 });
        "Stream::array", "one texel too few" => Invalid, |w| w.stream.array(&[1.0_f32; 63], SQUARE);
        "Stream::array", "a number of texels that overflows" => Invalid, |w| w.stream.array(&[1.0_f32; 8], Extent2 { width: usize::MAX, height: usize::MAX });
        "Stream::surface_array", "one texel too many" => Invalid, |w| w.stream.surface_array(&[1.0_f32; 65], SQUARE);
        "Stream::surface_array_zeroed", "no height" => Limit, |w| w.stream.surface_array_zeroed::<f32, _>(NOTHING);
        "Stream::mipmapped_array", "no levels" => Limit, |w| w.stream.mipmapped_array::<f32, _>(&[], SQUARE);
        "Stream::mipmapped_array", "a level of other extents" => Invalid, |w| w.stream.mipmapped_array(&[&[1.0_f32; 64], &[1.0_f32; 15]], SQUARE);
        "Stream::surface_mipmapped_array", "a level of other extents" => Invalid, |w| w.stream.surface_mipmapped_array(&[&[1.0_f32; 63]], SQUARE);
        "Stream::mipmapped_array_zeroed", "one level too many" => Limit, |w| w.stream.mipmapped_array_zeroed::<f32, _>(SQUARE, 5);
        "Stream::mipmapped_array_zeroed", "no levels" => Limit, |w| w.stream.mipmapped_array_zeroed::<f32, _>(SQUARE, 0);
        "Stream::surface_mipmapped_array_zeroed", "levels that overflow" => Limit, |w| w.stream.surface_mipmapped_array_zeroed::<f32, _>(SQUARE, usize::MAX);
        "Stream::upload_array", "one texel too few" => Invalid, |w| w.stream.upload_array(&[1; 63], &mut square(w)?);
        "Stream::upload_array_region", "one row beyond" => Invalid, |w| w.stream.upload_array_region(&[1; 72], &mut square(w)?, ORIGIN, BEYOND);
        "Stream::upload_array_region", "a place that overflows" => Invalid, |w| w.stream.upload_array_region(&[1; 1], &mut square(w)?, OVERFLOW, CORNER);
        "Stream::upload_array_region", "no texels" => Invalid, |w| w.stream.upload_array_region(&[], &mut square(w)?, ORIGIN, NOTHING);
        "Stream::upload_array_region", "one texel too many" => Invalid, |w| w.stream.upload_array_region(&[1; 2], &mut square(w)?, ORIGIN, CORNER);
        "Stream::download_array_into", "one texel too few" => Invalid, |w| w.stream.download_array_into(&square(w)?, &mut [0; 63]);
        "Stream::download_array_region", "one row beyond" => Invalid, |w| w.stream.download_array_region(&square(w)?, CORNER, SQUARE);
        "Stream::copy_array", "other extents of as many texels" => Invalid, |w| {
            let from = w.stream.array_zeroed::<u32, _>(Extent2 { width: 16, height: 4 })?;
            w.stream.copy_array(&from, &mut square(w)?)
        };
        "Stream::copy_array", "to the same level" => Invalid, |w| {
            let array = levels(w, 2)?;
            w.stream.copy_array(&array.level(1), &mut array.level(1))
        };
        "Stream::copy_to_array", "one element too few" => Invalid, |w| w.stream.copy_to_array(&w.words.slice(1..), &mut square(w)?);
        "Stream::copy_to_array_region", "one row beyond" => Invalid, |w| w.stream.copy_to_array_region(&w.words, &mut square(w)?, CORNER, SQUARE);
        "Stream::copy_from_array", "one element too few" => Invalid, |w| w.stream.copy_from_array(&square(w)?, &mut w.words.slice_mut(1..));
        "Stream::copy_from_array_region", "one row beyond" => Invalid, |w| w.stream.copy_from_array_region(&square(w)?, CORNER, SQUARE, &mut w.words);
        "Stream::copy_from_array_region", "a part of another length" => Invalid, |w| w.stream.copy_from_array_region(&square(w)?, ORIGIN, CORNER, &mut w.words);
        "CopyBatch::copy_array", "other extents" => Invalid, |w| {
            let from = w.stream.array_zeroed::<u32, _>(Extent2 { width: 16, height: 4 })?;
            CopyBatch::new().copy_array(&from, &mut square(w)?)
        };
        "CopyBatch::copy_array", "to the same level" => Invalid, |w| {
            let array = levels(w, 2)?;
            let (from, mut to) = (array.level(0), array.level(0));
            CopyBatch::new().copy_array(&from, &mut to)
        };
        "Stream::copy_batch", "one level of an array twice" => Invalid, |w| {
            let array = levels(w, 2)?;
            let (mut one, mut same) = (array.level(0), array.level(0));
            let (texels, more) = (w.stream.filled(64, 7_u32)?, w.stream.filled(64, 8_u32)?);
            let mut batch = CopyBatch::new();
            batch.copy_to_array(&texels, &mut one)?;
            batch.copy_to_array(&more, &mut same)?;
            w.stream.copy_batch(batch)
        };
        "CopyBatch::copy_to_array", "one element too few" => Invalid, |w| CopyBatch::new().copy_to_array(&w.words.slice(1..), &mut square(w)?);
        "CopyBatch::copy_to_array_region", "one row beyond" => Invalid, |w| CopyBatch::new().copy_to_array_region(&w.words, &mut square(w)?, CORNER, SQUARE);
        "CopyBatch::copy_from_array", "one element too few" => Invalid, |w| CopyBatch::new().copy_from_array(&square(w)?, &mut w.words.slice_mut(1..));
        "CopyBatch::copy_from_array_region", "one row beyond" => Invalid, |w| CopyBatch::new().copy_from_array_region(&square(w)?, CORNER, SQUARE, &mut w.words);
        "TexelView::levels", "one beyond the last" => Limit, |w| levels(w, 2)?.view_as::<f32>().levels(1..3).map(drop);
        "TexelView::levels", "none" => Invalid, |w| levels(w, 2)?.view_as::<f32>().levels(1..1).map(drop);
        "TexelView::levels", "an end before the start" => Invalid, |w| levels(w, 2)?.view_as::<f32>().levels(std::ops::Range { start: 2, end: 1 }).map(drop);
        "TexelView::layers", "one beyond the last" => Limit, |w| {
            let array = w.stream.array_zeroed::<u32, _>(Layered1 { width: 4, layers: 2 })?;
            array.view_as::<f32>().layers(..3).map(drop)
        };
        "TexelView::layers", "an end that overflows" => Limit, |w| {
            let array = w.stream.array_zeroed::<u32, _>(Layered1 { width: 4, layers: 2 })?;
            array.view_as::<f32>().layers(..=usize::MAX).map(drop)
        };
        "Stream::array_zeroed", "more than a device's width" => Limit, |w| w.stream.array_zeroed::<f32, _>(Extent1 { width: 1 << 40 });
    }
}

pub fn far_rows() -> Vec<Row> {
    rows! {
        "Stream::upload_array", "an array of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.upload_array(&[1; 64], &mut square(far)?)
        };
        "Stream::upload_array_region", "an array of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.upload_array_region(&[1], &mut square(far)?, ORIGIN, CORNER)
        };
        "Stream::download_array", "an array of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.download_array(&square(far)?)
        };
        "Stream::download_array_into", "an array of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.download_array_into(&square(far)?, &mut [0; 64])
        };
        "Stream::download_array_region", "an array of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.download_array_region(&square(far)?, ORIGIN, CORNER)
        };
        "Stream::copy_array", "an array of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let mut to = near.stream.array_zeroed::<u32, _>(SQUARE)?;
            near.stream.copy_array(&square(far)?, &mut to)
        };
        "Stream::copy_to_array", "an array of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.copy_to_array(near.words, &mut square(far)?)
        };
        "Stream::copy_to_array_region", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let mut to = near.stream.array_zeroed::<u32, _>(SQUARE)?;
            near.stream.copy_to_array_region(&far.words, &mut to, ORIGIN, SQUARE)
        };
        "Stream::copy_from_array", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let from = near.stream.array_zeroed::<u32, _>(SQUARE)?;
            near.stream.copy_from_array(&from, &mut far.words)
        };
        "Stream::copy_from_array_region", "an array of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let from = square(far)?;
            near.stream.copy_from_array_region(&from, ORIGIN, SQUARE, near.words)
        };
        "Stream::copy_array_from_peer", "of other extents" => Invalid, |w| {
            let (near, far) = w.both();
            let mut to = near.stream.array_zeroed::<u32, _>(CORNER)?;
            near.stream.copy_array_from_peer(&far.stream, &square(far)?, &mut to)
        };
        "Stream::copy_array_from_peer", "the streams exchanged" => Invalid, |w| {
            let (near, far) = w.both();
            let mut to = near.stream.array_zeroed::<u32, _>(SQUARE)?;
            far.stream.copy_array_from_peer(near.stream, &square(far)?, &mut to)
        };
        "Stream::copy_array_from_peer", "both of one device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.copy_array_from_peer(&far.stream, &square(far)?, &mut square(far)?)
        };
        "Stream::copy_array_region_from_peer", "a part that ends outside" => Invalid, |w| {
            let (near, far) = w.both();
            let mut to = near.stream.array_zeroed::<u32, _>(CORNER)?;
            near.stream.copy_array_region_from_peer(&far.stream, &square(far)?, ORIGIN, &mut to, ORIGIN, SQUARE)
        };
        "Stream::copy_to_array_from_peer", "fewer elements than texels" => Invalid, |w| {
            let (near, far) = w.both();
            let mut to = near.stream.array_zeroed::<u32, _>(SQUARE)?;
            near.stream.copy_to_array_from_peer(&far.stream, &far.words.slice(1..), &mut to)
        };
        "Stream::copy_to_array_from_peer", "memory of the stream's own device" => Invalid, |w| {
            let (near, far) = w.both();
            let mut to = near.stream.array_zeroed::<u32, _>(SQUARE)?;
            near.stream.copy_to_array_from_peer(&far.stream, near.words, &mut to)
        };
        "Stream::copy_from_array_of_peer", "fewer elements than texels" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.copy_from_array_of_peer(&far.stream, &square(far)?, &mut near.words.slice_mut(1..))
        };
        "Stream::copy_from_array_of_peer", "to memory of the array's device" => Invalid, |w| {
            let (near, far) = w.both();
            let from = square(far)?;
            near.stream.copy_from_array_of_peer(&far.stream, &from, &mut far.words)
        };
    }
}
