//! An image turned by a texture, and one copied by surfaces (3.2.14).

use warpsmith_host::prelude::*;
use warpsmith_host::{AddressMode, Coordinates, Extent2, Filter, TextureOptions};
use warpsmith_test_kernels::guide;
use warpsmith_tests::{Random, fixture};

const SIZE: usize = 1024;
const EXTENTS: Extent2 = Extent2 {
    width: SIZE,
    height: SIZE,
};

/// What a linear fetch of a wrapped image at normalised coordinates gives, with weights of 8 bits.
fn wrapped(image: &[f32], u: f32, v: f32) -> f32 {
    let place = |at: f32| {
        let at = f64::from(at - at.floor()) * SIZE as f64 - 0.5;
        let fixed = (at * 256.0).round();
        let texel = (fixed / 256.0).floor();
        let first = (texel as i64).rem_euclid(SIZE as i64) as usize;
        (first, (first + 1) % SIZE, fixed / 256.0 - texel)
    };
    let ((left, right, x), (upper, lower, y)) = (place(u), place(v));
    let at = |row: usize, column: usize| f64::from(image[row * SIZE + column]);
    let rows = [upper, lower].map(|row| at(row, left) * (1.0 - x) + at(row, right) * x);
    (rows[0] * (1.0 - y) + rows[1] * y) as f32
}

// covers: TEX-X01
#[test]
fn a_wrapped_image_is_turned_about_its_middle() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let rotate = f.module.kernel(guide::rotate)?;
    let mut random = Random::new(3);
    let pixels: Vec<f32> = (0..SIZE * SIZE).map(|_| random.unit()).collect();
    let image = stream.array(&pixels, EXTENTS)?;
    let texture = image.texture(TextureOptions {
        address: [AddressMode::Wrap; 3],
        filter: Filter::Linear,
        coordinates: Coordinates::Normalised,
        ..Default::default()
    })?;
    let mut out = stream.zeroed::<f32>(SIZE * SIZE)?;
    let grid = Grid::cover_2d((SIZE, SIZE), (16, 16));

    let arguments = (&texture, 0.5, 0.0, &mut out.matrix_mut(SIZE, SIZE)?);
    stream.launch(&rotate, grid, arguments)?;
    let turned = stream.download(&out)?;
    let (sin, cos) = 0.5_f32.sin_cos();
    let (mut worst, mut sum) = (0.0_f32, 0.0);
    for (i, &found) in turned.iter().enumerate() {
        let (x, y) = ((i % SIZE) as f32, (i / SIZE) as f32);
        let (u, v) = (x / SIZE as f32 - 0.5, y / SIZE as f32 - 0.5);
        let (tu, tv) = (u * cos - v * sin + 0.5, v * cos + u * sin + 0.5);
        let difference = (found - wrapped(&pixels, tu, tv)).abs();
        worst = worst.max(difference);
        sum += f64::from(difference);
    }
    // Texels are 0 to 1: the last bits of a coordinate may change a weight of each axis by a 256th, and the device rounds the products of weights
    // again.
    assert!(worst < 4.0 / 256.0, "{worst}");
    assert!(sum / ((SIZE * SIZE) as f64) < 1e-3, "{sum}");

    // The middles of the texels, not turned: the image itself.
    let arguments = (&texture, 0.0, 0.5, &mut out.matrix_mut(SIZE, SIZE)?);
    stream.launch(&rotate, grid, arguments)?;
    assert_eq!(stream.download(&out)?, pixels);
    Ok(())
}

// covers: SURF-X01
#[test]
fn an_image_is_copied_from_surface_to_surface() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let copy_image = f.module.kernel(guide::copy_image)?;
    let bytes: Vec<u8> = (0..SIZE * SIZE * 4).map(|i| i as u8).collect();
    let pixels: &[[u8; 4]] = bytemuck::cast_slice(&bytes);
    let mut from = stream.surface_array(pixels, EXTENTS)?;
    let mut to = stream.surface_array_zeroed::<[u8; 4], _>(EXTENTS)?;
    let grid = Grid::cover_2d((SIZE, SIZE), (16, 16));
    let arguments = (&mut from.surface()?, &mut to.surface()?);
    stream.launch(&copy_image, grid, arguments)?;
    assert_eq!(stream.download_array(&to)?, pixels);
    Ok(())
}
