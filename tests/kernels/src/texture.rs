//! Textures and surfaces: fetches in every geometry, own texels, and texels and bytes at any place.

use warpsmith_device::half::f16;
use warpsmith_device::prelude::*;
use warpsmith_device::texture::{Fetched, SurfaceTexel};

/// The middle of a texel, by its number.
fn middle(texel: usize) -> f32 {
    texel as f32 + 0.5
}

/// Each texel of a line.
#[kernel(instantiate(f32, u32, i32, [f32; 2], [u32; 4], [i32; 4]))]
pub fn fetch_1d<T: Fetched>(line: Texture1d<T>, mut out: PerThread<[T]>) {
    let x = thread::index();
    if let Some(out) = out.mine() {
        *out = line.fetch(middle(x));
    }
}

/// Each texel of an image.
#[kernel(instantiate(f32, u32, [f32; 4], [i32; 2]))]
pub fn fetch_2d<T: Fetched>(image: Texture2d<T>, mut out: MatrixOut<T>) {
    let (row, column) = (out.row(), out.column());
    if let Some(out) = out.mine() {
        *out = image.fetch(middle(column), middle(row));
    }
}

/// Each texel of a volume.
#[kernel(instantiate(f32, u32, i32))]
pub fn fetch_3d<T: Fetched>(volume: Texture3d<T>, mut out: VolumeOut<T>) {
    let (z, y, x) = out.position();
    if let Some(out) = out.mine() {
        *out = volume.fetch(middle(x), middle(y), middle(z));
    }
}

/// Each texel of lines in layers, and behind the last layer the last.
#[kernel]
pub fn fetch_layered_1d(lines: LayeredTexture1d<u32>, mut out: MatrixOut<u32>) {
    let (layer, column) = (out.row(), out.column());
    if let Some(out) = out.mine() {
        *out = lines.fetch(middle(column), layer as u32);
    }
}

/// Each texel of images in layers, and behind the last layer the last.
#[kernel]
pub fn fetch_layered_2d(images: LayeredTexture2d<f32>, mut out: VolumeOut<f32>) {
    let (layer, y, x) = out.position();
    if let Some(out) = out.mine() {
        *out = images.fetch(middle(x), middle(y), layer as u32);
    }
}

/// A line at these places.
#[kernel]
pub fn fetch_line_at(line: Texture1d<f32>, at: &[f32], mut out: PerThread<[f32]>) {
    if let (Some(&x), Some(out)) = (at.get(thread::index()), out.mine()) {
        *out = line.fetch(x);
    }
}

/// An image at these places.
#[kernel]
pub fn fetch_image_at(image: Texture2d<f32>, at: &[[f32; 2]], mut out: PerThread<[f32]>) {
    if let (Some(&[x, y]), Some(out)) = (at.get(thread::index()), out.mine()) {
        *out = image.fetch(x, y);
    }
}

/// Each element of a buffer, and 7 where there is none.
#[kernel(instantiate(f32, u32, i32))]
pub fn elements<T: Fetched + From<u8>>(buffer: LinearTexture<T>, mut out: PerThread<[T]>) {
    if let Some(out) = out.mine() {
        *out = buffer.get(thread::index()).unwrap_or(T::from(7));
    }
}

/// All extents.
#[kernel]
pub fn extents(
    volume: Texture3d<f32>,
    lines: LayeredTexture1d<u32>,
    images: LayeredTexture2d<f32>,
    layers: LayeredSurface2d<u8>,
    mut out: PerThread<[[u32; 11]]>,
) {
    let [width, height, count] = layers.extents();
    if let Some(out) = out.mine() {
        *out = [
            volume.width(),
            volume.height(),
            volume.depth(),
            lines.width(),
            lines.layers(),
            images.width(),
            images.height(),
            images.layers(),
            width,
            height,
            count,
        ];
    }
}

/// Adds its place to each texel of a line.
#[kernel]
pub fn add_places_1d(line: Surface1d<u32>) {
    if let Some(texel) = line.mine() {
        let ([x], before) = (texel.position(), texel.read());
        texel.write(before + x);
    }
}

/// Adds its place to each texel of an image.
#[kernel]
pub fn add_places_2d(image: Surface2d<u32>) {
    if let Some(texel) = image.mine() {
        let ([x, y], before) = (texel.position(), texel.read());
        texel.write(before + x + 100 * y);
    }
}

/// Adds its place to each texel of a volume.
#[kernel]
pub fn add_places_3d(volume: Surface3d<u32>) {
    if let Some(texel) = volume.mine() {
        let ([x, y, z], before) = (texel.position(), texel.read());
        texel.write(before + x + 100 * y + 10_000 * z);
    }
}

/// Adds its place to each texel of lines in layers.
#[kernel]
pub fn add_places_layered_1d(lines: LayeredSurface1d<u32>) {
    if let Some(texel) = lines.mine() {
        let ([x, layer], before) = (texel.position(), texel.read());
        texel.write(before + x + 100 * layer);
    }
}

/// Adds its place to each texel of images in layers.
#[kernel]
pub fn add_places_layered_2d(images: LayeredSurface2d<u32>) {
    if let Some(texel) = images.mine() {
        let ([x, y, layer], before) = (texel.position(), texel.read());
        texel.write(before + x + 100 * y + 10_000 * layer);
    }
}

/// Copies texel by texel.
#[kernel(instantiate(u8, i16, f16, f32, i32, [u8; 2], [u8; 4], [i8; 4], [f16; 2], [u16; 4], [u32; 2], [f32; 4]))]
pub fn copy_texels<T: SurfaceTexel>(from: Surface1d<T>, to: Surface1d<T>) {
    if let (Some(from), Some(to)) = (from.mine(), to.mine()) {
        to.write(from.read());
    }
}

/// Mirrors each row into another image of the same extents.
///
/// # Safety
///
/// The launch has a thread for each texel, and no more.
#[kernel]
pub unsafe fn mirror_rows(from: Surface2d<u32>, to: Surface2d<u32>) {
    let (x, y) = thread::index_2d();
    let [width, _] = from.extents();
    // SAFETY: all positions lie in the images by the caller's contract; nobody writes the one, and of the other each thread writes another
    // texel.
    unsafe { to.write_at([width - 1 - x, y], from.read_at([x, y])) };
}

/// Reads four words beginning at each of these bytes, and writes them behind each other.
///
/// # Safety
///
/// The bytes lie in the first image, and the words have room in the second.
#[kernel]
pub unsafe fn copy_bytes(from: Surface1d<u8>, to: Surface1d<u32>, at: &[u32]) {
    if let (index, Some(&byte)) = (thread::index_1d(), at.get(thread::index())) {
        // SAFETY: nobody writes the one; of the other each thread has 16 bytes of its own.
        unsafe { to.write_at_byte([16 * index], from.read_at_byte::<[u32; 4]>([byte])) };
    }
}
