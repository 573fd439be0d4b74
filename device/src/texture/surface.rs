//! Surfaces: read and written by positions.

use core::marker::PhantomData;

use super::geometry::{Dim1, Dim2, Dim3, Layered1, Layered2, Positioned, own_coordinates};
use super::texel::SurfaceTexel;

/// A surface of texels `T`, of which each thread of a launch owns the one at its position: x is `block.x * dim.x + thread.x`, the next
/// coordinate (y, or the layer of lines) likewise by y, the third (z, or the layer of rectangles) by z. Written as a parameter by one of its
/// aliases: `image: Surface2d<f32>`. See [the module](crate::texture).
///
/// The launch may extend in as many dimensions as the texels have, layers included; the launcher holds that. A thread gets its texel once,
/// reads it, and writes it: what it has written it cannot read any more, because a read need not see what the same launch has written.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn invert(image: Surface2d<[u8; 4]>) {
///     if let Some(texel) = image.mine() {
///         let [r, g, b, a] = texel.read();
///         texel.write([255 - r, 255 - g, 255 - b, a]);
///     }
/// }
/// ```
///
/// ```compile_fail,E0382
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn read_back(image: Surface2d<u32>) {
///     if let Some(texel) = image.mine() {
///         texel.write(1);
///         let stale = texel.read();
///     }
/// }
/// ```
pub struct Surface<'a, T: SurfaceTexel, D: Positioned> {
    object: u64,
    pub(super) extents: [u32; 3],
    texels: PhantomData<(&'a mut [T], D)>,
}

/// A line of texels; see [`Surface`].
pub type Surface1d<'a, T> = Surface<'a, T, Dim1>;
/// Rows of texels; see [`Surface`].
pub type Surface2d<'a, T> = Surface<'a, T, Dim2>;
/// A volume of texels; see [`Surface`].
pub type Surface3d<'a, T> = Surface<'a, T, Dim3>;
/// Lines of texels, each a layer by itself; see [`Surface`].
pub type LayeredSurface1d<'a, T> = Surface<'a, T, Layered1>;
/// Rectangles of texels, each a layer by itself; see [`Surface`].
pub type LayeredSurface2d<'a, T> = Surface<'a, T, Layered2>;

impl<'a, T: SurfaceTexel, D: Positioned> Surface<'a, T, D> {
    /// # Safety
    /// `object` is a surface object of this geometry and of these extents (1 for those that it has not), of texels `T`. It lives as long as the
    /// kernel runs, and its texels are reached during that by this view only, of which every thread has one made from the same arguments.
    #[inline(always)]
    pub(crate) unsafe fn from_raw_parts(object: u64, extents: [u32; 3]) -> Self {
        Surface {
            object,
            extents,
            texels: PhantomData,
        }
    }

    /// The object's number (`cudaSurfaceObject_t`), for inline PTX with other instructions. It is valid as long as the kernel runs.
    #[inline(always)]
    pub fn object(&self) -> u64 {
        self.object
    }

    /// The extents in texels and layers: width, height, depth or layers, those that there are.
    #[inline(always)]
    pub fn extents(&self) -> D::Position {
        D::of_coordinates(self.extents)
    }

    /// The thread's own texel, if the surface reaches so far.
    #[inline(always)]
    pub fn mine(self) -> Option<OwnTexel<'a, T, D>> {
        let own = own_coordinates::<D>();
        let is_inside = |axis: usize| own[axis] < self.extents[axis] as usize;
        if is_inside(0) && is_inside(1) && is_inside(2) {
            Some(OwnTexel {
                at: own.map(|coordinate| coordinate as u32),
                surface: self,
            })
        } else {
            None
        }
    }

    /// Reads a texel. A position outside of the surface is a fault (`.trap`).
    ///
    /// Becomes `suld.b.2d.b32.trap` and the like, with x multiplied by the texel's size. Any arch.
    ///
    /// # Safety
    /// No thread of this launch writes the texel, and x times the texel's size is less than 2^31.
    #[inline(always)]
    pub unsafe fn read_at(&self, position: D::Position) -> T {
        // SAFETY: the object is a surface of this geometry (`from_raw_parts`); nobody writes the texel, by the function's condition.
        unsafe {
            T::load(
                self.object,
                D::KIND,
                in_bytes::<T>(D::coordinates(position)),
            )
        }
    }

    /// Writes a texel. A position outside of the surface is a fault (`.trap`).
    ///
    /// Becomes `sust.b.2d.b32.trap` and the like, with x multiplied by the texel's size. Any arch.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// # Safety
    /// /// The image is as wide as the launch.
    /// #[kernel]
    /// pub unsafe fn mirror(row: Texture1d<f32>, image: Surface1d<f32>) {
    ///     let x = thread::index_1d();
    ///     let to = row.width() - 1 - x;
    ///     // SAFETY: no two threads have the same x, and nobody reads.
    ///     unsafe { image.write_at([to], row.fetch(x as f32 + 0.5)) };
    /// }
    /// ```
    ///
    /// # Safety
    /// No other thread of this launch reads or writes the texel, this one does not read it afterwards, and x times the texel's size is less than
    /// 2^31.
    #[inline(always)]
    pub unsafe fn write_at(&self, position: D::Position, texel: T) {
        // SAFETY: the object is a surface of this geometry (`from_raw_parts`); nobody else uses the texel, by the function's condition.
        unsafe {
            texel.store(
                self.object,
                D::KIND,
                in_bytes::<T>(D::coordinates(position)),
            )
        }
    }

    /// Reads a `W` that begins at a byte: x counts bytes, as in PTX, so that one access may span several texels or be a part of one. x has to be
    /// a multiple of the size of `W`; else, and outside of the surface, it is a fault (`.trap`).
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// Copies a line of bytes, 16 at a time.
    /// ///
    /// /// # Safety
    /// ///
    /// /// Both have 16 bytes for each thread.
    /// #[kernel]
    /// pub unsafe fn copy(from: Surface1d<u8>, to: Surface1d<u8>) {
    ///     let byte = [16 * thread::index_1d()];
    ///     // SAFETY: the bytes are there, and no two threads have the same.
    ///     unsafe { to.write_at_byte(byte, from.read_at_byte::<[u32; 4]>(byte)) };
    /// }
    /// ```
    ///
    /// # Safety
    /// No thread of this launch writes these bytes.
    #[inline(always)]
    pub unsafe fn read_at_byte<W: SurfaceTexel>(&self, position: D::Position) -> W {
        // SAFETY: the object is a surface of this geometry (`from_raw_parts`); nobody writes the bytes, by the function's condition.
        unsafe { W::load(self.object, D::KIND, D::coordinates(position)) }
    }

    /// Writes a `W` that begins at a byte; see [`read_at_byte`](Self::read_at_byte).
    ///
    /// # Safety
    /// No other thread of this launch reads or writes these bytes, and this one does not read them afterwards.
    #[inline(always)]
    pub unsafe fn write_at_byte<W: SurfaceTexel>(&self, position: D::Position, value: W) {
        // SAFETY: the object is a surface of this geometry (`from_raw_parts`); nobody else uses the bytes, by the function's condition.
        unsafe { value.store(self.object, D::KIND, D::coordinates(position)) }
    }
}

/// Coordinates of which x counts bytes.
#[inline(always)]
fn in_bytes<T>([x, y, z]: [u32; 3]) -> [u32; 3] {
    [x.wrapping_mul(size_of::<T>() as u32), y, z]
}

/// The texel of a surface that a thread owns. See [`Surface`].
pub struct OwnTexel<'a, T: SurfaceTexel, D: Positioned> {
    surface: Surface<'a, T, D>,
    at: [u32; 3],
}

impl<T: SurfaceTexel, D: Positioned> OwnTexel<'_, T, D> {
    /// Where it is: x, y and z, then the layer, those that there are.
    #[inline(always)]
    pub fn position(&self) -> D::Position {
        D::of_coordinates(self.at)
    }

    /// Reads it.
    ///
    /// Becomes `suld.b.2d.b32.trap` and the like. Any arch.
    #[inline(always)]
    pub fn read(&self) -> T {
        // SAFETY: the position lies in the surface (`Surface::mine`), and no other thread has it.
        unsafe { self.surface.read_at(self.position()) }
    }

    /// Writes it. Later launches read what was written.
    ///
    /// Becomes `sust.b.2d.b32.trap` and the like. Any arch.
    #[inline(always)]
    pub fn write(self, texel: T) {
        // SAFETY: the position lies in the surface (`Surface::mine`), no other thread has it, and this one can read it no more.
        unsafe { self.surface.write_at(self.position(), texel) }
    }
}
