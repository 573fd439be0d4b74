//! Textures and surfaces: fetches in every geometry, own texels, and texels and bytes at any place.

use warpsmith_device::half::f16;
use warpsmith_device::prelude::*;
use warpsmith_device::texture::{
    Cube, Dim1, Dim2, Dim3, Fetched, Layered1, Layered2, LayeredCube, SurfaceTexel,
};

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

/// One component of the texels around each corner of four of an image, beginning with the first one.
#[kernel(instantiate(f32, u32, [u32; 2], [i32; 4]))]
pub fn gather_first<T: Gathered>(
    image: GatherTexture2d<T>,
    mut out: MatrixOut<[<T as Gathered>::Component; 4]>,
) {
    let (row, column) = (out.row(), out.column());
    if let Some(out) = out.mine() {
        *out = T::gather(&image, column as f32 + 1.0, row as f32 + 1.0);
    }
}

/// What [`gather_first()`] gathers: the last component of texels.
pub trait Gathered: Fetched {
    /// The component's type.
    type Component: bytemuck::Pod;
    /// Gathers it.
    fn gather(image: &GatherTexture2d<Self>, x: f32, y: f32) -> [Self::Component; 4];
}

macro_rules! gathered {
    ($($texel:ty: $component:ty, $last:literal;)*) => {$(
        impl Gathered for $texel {
            type Component = $component;

            #[inline(always)]
            fn gather(image: &GatherTexture2d<$texel>, x: f32, y: f32) -> [$component; 4] {
                image.gather::<$last>(x, y)
            }
        }
    )*};
}
gathered! {
    f32: f32, 0;
    u32: u32, 0;
    [u32; 2]: u32, 1;
    [i32; 4]: i32, 3;
}

/// Gathers the third component at these places, and fetches there.
#[kernel]
pub fn gather_at(
    image: GatherTexture2d<[u32; 4]>,
    at: &[[f32; 2]],
    mut out: PerThread<[[u32; 5]]>,
) {
    if let (Some(&[x, y]), Some(out)) = (at.get(thread::index()), out.mine()) {
        let [a, b, c, d] = image.gather::<2>(x, y);
        *out = [a, b, c, d, image.fetch(x, y)[2]];
    }
}

/// What texture and surface objects say of their extents.
#[kernel]
pub fn ask_extents(
    line: Texture1d<f32>,
    image: Texture2d<u32>,
    volume: Texture3d<f32>,
    lines: LayeredTexture1d<u32>,
    images: LayeredTexture2d<f32>,
    surface: Surface3d<f32>,
    layers: LayeredSurface2d<u8>,
    mut out: PerThread<[[u32; 17]]>,
) {
    if let Some(out) = out.mine() {
        let [a] = line.ask_extents();
        let [b, c] = image.ask_extents();
        let [d, e, f] = volume.ask_extents();
        let [g, h] = lines.ask_extents();
        let [i, j, k] = images.ask_extents();
        let [l, m, n] = surface.ask_extents();
        let [o, p, q] = layers.ask_extents();
        *out = [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q];
    }
}

/// In the middle of a line, at these levels of detail.
#[kernel]
pub fn fetch_level_1d(
    line: MipmappedTexture<f32, Dim1>,
    levels: &[f32],
    mut out: PerThread<[f32]>,
) {
    if let (Some(&level), Some(out)) = (levels.get(thread::index()), out.mine()) {
        *out = line.fetch_level(0.5, level);
    }
}

/// In the middle of an image, at these levels of detail.
#[kernel(instantiate(f32, u32, [f32; 4]))]
pub fn fetch_level_2d<T: Fetched>(
    image: MipmappedTexture<T, Dim2>,
    levels: &[f32],
    mut out: PerThread<[T]>,
) {
    if let (Some(&level), Some(out)) = (levels.get(thread::index()), out.mine()) {
        *out = image.fetch_level(0.5, 0.5, level);
    }
}

/// In the middle of a volume, at these levels of detail.
#[kernel]
pub fn fetch_level_3d(
    volume: MipmappedTexture<f32, Dim3>,
    levels: &[f32],
    mut out: PerThread<[f32]>,
) {
    if let (Some(&level), Some(out)) = (levels.get(thread::index()), out.mine()) {
        *out = volume.fetch_level(0.5, 0.5, 0.5, level);
    }
}

/// In the middle of the second of some lines, at these levels of detail.
#[kernel]
pub fn fetch_level_layered_1d(
    lines: MipmappedTexture<f32, Layered1>,
    levels: &[f32],
    mut out: PerThread<[f32]>,
) {
    if let (Some(&level), Some(out)) = (levels.get(thread::index()), out.mine()) {
        *out = lines.fetch_level(0.5, 1, level);
    }
}

/// In the middle of the last of some images, at these levels of detail.
#[kernel]
pub fn fetch_level_layered_2d(
    images: MipmappedTexture<f32, Layered2>,
    levels: &[f32],
    mut out: PerThread<[f32]>,
) {
    if let (Some(&level), Some(out)) = (levels.get(thread::index()), out.mine()) {
        *out = images.fetch_level(0.5, 0.5, 99, level);
    }
}

/// Below the middle of a cube, at these levels of detail.
#[kernel]
pub fn fetch_level_cube(
    cube: MipmappedTexture<f32, Cube>,
    levels: &[f32],
    mut out: PerThread<[f32]>,
) {
    if let (Some(&level), Some(out)) = (levels.get(thread::index()), out.mine()) {
        *out = cube.fetch_level(0.0, -1.0, 0.0, level);
    }
}

/// Below the middle of the second of some cubes, at these levels of detail.
#[kernel]
pub fn fetch_level_layered_cube(
    cubes: MipmappedTexture<f32, LayeredCube>,
    levels: &[f32],
    mut out: PerThread<[f32]>,
) {
    if let (Some(&level), Some(out)) = (levels.get(thread::index()), out.mine()) {
        *out = cubes.fetch_level(0.0, -1.0, 0.0, 1, level);
    }
}

/// In the middle of everything, by a step of so many first texels along x.
#[kernel]
pub fn fetch_gradients(
    line: MipmappedTexture<f32, Dim1>,
    image: MipmappedTexture<f32, Dim2>,
    volume: MipmappedTexture<f32, Dim3>,
    lines: MipmappedTexture<f32, Layered1>,
    images: MipmappedTexture<f32, Layered2>,
    steps: &[f32],
    mut out: PerThread<[[f32; 5]]>,
) {
    if let (Some(&step), Some(out)) = (steps.get(thread::index()), out.mine()) {
        let dx = step / line.width() as f32;
        *out = [
            line.fetch_gradient(0.5, dx, 0.0),
            image.fetch_gradient(0.5, 0.5, [dx, 0.0], [0.0; 2]),
            volume.fetch_gradient(0.5, 0.5, 0.5, [0.0; 3], [dx, 0.0, 0.0]),
            lines.fetch_gradient(0.5, 0, 0.0, dx),
            images.fetch_gradient(0.5, 0.5, 0, [0.0; 2], [0.0, dx]),
        ];
    }
}

/// Each texel of a level is the mean of four of the one before it.
#[kernel]
pub fn halve(from: Texture2d<f32>, to: Surface2d<f32>) {
    if let Some(texel) = to.mine() {
        let [x, y] = texel.position().map(|at| (2 * at) as f32 + 0.5);
        let sum = from.fetch(x, y)
            + from.fetch(x + 1.0, y)
            + from.fetch(x, y + 1.0)
            + from.fetch(x + 1.0, y + 1.0);
        texel.write(sum / 4.0);
    }
}

/// A cube in these directions.
#[kernel]
pub fn fetch_cube(cube: CubeTexture<f32>, directions: &[[f32; 3]], mut out: PerThread<[f32]>) {
    if let (Some(&[x, y, z]), Some(out)) = (directions.get(thread::index()), out.mine()) {
        *out = cube.fetch(x, y, z);
    }
}

/// The last cube in these directions.
#[kernel]
pub fn fetch_layered_cube(
    cubes: LayeredCubeTexture<u32>,
    directions: &[[f32; 3]],
    mut out: PerThread<[u32]>,
) {
    if let (Some(&[x, y, z]), Some(out)) = (directions.get(thread::index()), out.mine()) {
        *out = cubes.fetch(x, y, z, cubes.cubes());
    }
}
