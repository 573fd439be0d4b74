//! Histogram equalisation of a picture on the device: brightness, [histogram], [scan], remap.
//!
//! [histogram]: warpsmith_kernels::histogram
//! [scan]: warpsmith_kernels::scan

use crate::session::Session;
use anyhow::Result;
use warpsmith_host::prelude::*;
use warpsmith_kernels::{equalize as kernels, histogram, scan};

/// Red, green, blue, alpha.
pub type Pixel = [u8; 4];

/// Spreads the brightness of a picture so that all levels occur about equally often; colours keep their proportions.
pub fn equalize(session: &Session, pixels: &[Pixel]) -> Result<Vec<Pixel>> {
    if pixels.is_empty() {
        return Ok(Vec::new());
    }
    let (stream, module) = (&session.stream, &session.module);
    let n = pixels.len();
    let mut picture = stream.upload(pixels)?;
    let mut brightness = stream.zeroed::<u8>(n)?;
    let each = Grid::cover(n, kernels::THREADS);
    stream.launch(
        &module.kernel(kernels::brightness)?,
        each,
        (&picture, &mut brightness),
    )?;

    let mut counts = stream.zeroed::<u32>(256)?;
    let blocks = n.div_ceil(histogram::TILE).min(1024) as u32;
    let grid = Grid::new(blocks, histogram::THREADS);
    stream.launch(
        &module.kernel(histogram::histogram)?,
        grid,
        (&brightness, &mut counts),
    )?;

    let mut cumulative = stream.zeroed::<u32>(256)?;
    let (mut state, mut ticket) = (stream.zeroed::<u64>(1)?, stream.zeroed::<u32>(1)?);
    let arguments = (&counts, &mut cumulative, &mut state, &mut ticket);
    stream.launch(
        &module.kernel(scan::scan)?,
        Grid::new(1, scan::THREADS),
        arguments,
    )?;

    stream.launch(
        &module.kernel(kernels::remap)?,
        each,
        (&cumulative, &mut picture),
    )?;
    Ok(stream.download(&picture)?)
}

/// The same on the CPU, written independently: what the device's result is compared with.
pub fn oracle(pixels: &[Pixel]) -> Vec<Pixel> {
    let luma = |p: &Pixel| {
        (usize::from(p[0]) * 77 + usize::from(p[1]) * 150 + usize::from(p[2]) * 29 + 128) / 256
    };
    let mut cumulative = [0usize; 256];
    for pixel in pixels {
        for count in &mut cumulative[luma(pixel)..] {
            *count += 1;
        }
    }
    let Some(&lowest) = cumulative.iter().find(|&&count| count > 0) else {
        return Vec::new();
    };
    let map = |pixel: &Pixel| -> Pixel {
        let old = luma(pixel);
        if lowest == pixels.len() {
            return *pixel;
        }
        let new = (cumulative[old] - lowest) * 255 / (pixels.len() - lowest);
        let scale = |colour: u8| match old {
            0 => new.min(255) as u8,
            old => ((usize::from(colour) * new + old / 2) / old).min(255) as u8,
        };
        [scale(pixel[0]), scale(pixel[1]), scale(pixel[2]), pixel[3]]
    };
    pixels.iter().map(map).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oracle_spreads_two_greys_to_black_and_white() {
        let greys = [[100, 100, 100, 255], [110, 110, 110, 9]];
        assert_eq!(oracle(&greys), [[0, 0, 0, 255], [255, 255, 255, 9]]);
        assert_eq!(oracle(&greys[..1]), greys[..1]);
    }
}
