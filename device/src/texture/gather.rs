//! One component of the four texels around a place.

use super::fetch::Lane;
use super::fetched::{Fetched, sealed::Sealed};
use super::geometry::Gather2;
use super::read::{Texture, place};

/// An image whose texels may be gathered; see [`Texture::gather`]. The host makes its array of `Gather2` extents.
pub type GatherTexture2d<'a, T> = Texture<'a, T, Gather2>;

impl<T: Fetched> Texture<'_, T, Gather2> {
    /// The component of this number of the four texels that a linear filter would weigh at x and y, whatever the filter is: that at less x
    /// and greater y first, then counterclockwise, so that the last is at less x and less y. Which texels these are is decided by
    /// coordinates of 8 fraction bits, as of a filter.
    ///
    /// Becomes `tld4.r.2d.v4.f32.f32` and its like. Any arch.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// The greatest red of each four pixels around a corner.
    /// #[kernel]
    /// pub fn greatest(image: GatherTexture2d<[f32; 4]>, mut out: MatrixOut<f32>) {
    ///     let (row, column) = (out.row(), out.column());
    ///     if let Some(out) = out.mine() {
    ///         let [a, b, c, d] = image.gather::<0>(column as f32 + 1.0, row as f32 + 1.0);
    ///         *out = a.max(b).max(c).max(d);
    ///     }
    /// }
    /// ```
    ///
    /// A component that the texels have not does not compile:
    ///
    /// ```compile_fail,E0080
    /// use warpsmith_device::prelude::*;
    ///
    /// pub fn second(image: GatherTexture2d<f32>) -> [f32; 4] {
    ///     image.gather::<1>(0.5, 0.5)
    /// }
    /// # std::hint::black_box(second as fn(GatherTexture2d<f32>) -> [f32; 4]);
    /// ```
    #[inline(always)]
    pub fn gather<const COMPONENT: usize>(&self, x: f32, y: f32) -> [<T as Sealed>::Lane; 4] {
        const {
            assert!(
                COMPONENT < size_of::<T>() / 4,
                "the texels have fewer components: the first is 0"
            );
        }
        let at = place([x, y, 0.0], 0);
        // SAFETY: the object is a texture of such components, of an array that was made to be gathered (`from_raw_parts`).
        unsafe { <T as Sealed>::Lane::gather::<COMPONENT>(self.object(), at) }
    }

    /// Fetches at x and y, as from any [`Texture2d`](super::Texture2d).
    ///
    /// Becomes `tex.2d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch(&self, x: f32, y: f32) -> T {
        self.fetch_place([x, y, 0.0], 0)
    }
}
