//! What a fetch gives.

use super::fetch::Lane;

pub(super) mod sealed {
    use super::Lane;

    /// Keeps [`Fetched`](super::Fetched) to this crate: its implementations say which instruction fetches.
    pub trait Sealed {
        type Lane: Lane;
        /// What tells it from the others in a kernel's record.
        const CODE: u32;

        /// Those of the four components that it is.
        fn of(lanes: [Self::Lane; 4]) -> Self;
    }
}

/// What a fetch from a texture gives: an `f32`, `u32` or `i32`, or an array of two or four of them.
///
/// It has as many components as the texels. Texels of `f32` and `f16` give `f32`; integers of 8, 16 and 32 bits give `u32` or `i32`, and
/// those of 8 and 16 bits `f32` where the texture normalises them.
///
/// ```
/// use warpsmith_device::texture::Fetched;
///
/// fn components<T: Fetched>() -> usize {
///     size_of::<T>() / 4
/// }
/// assert_eq!(components::<[f32; 4]>(), 4);
/// ```
///
/// ```compile_fail,E0277
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn three(image: Texture2d<[f32; 3]>) {}
/// ```
#[diagnostic::on_unimplemented(
    message = "a fetch from a texture does not give `{Self}`",
    label = "this is no `f32`, `u32` or `i32`, nor an array of two or four of them",
    note = "texels of `f32` and `f16` give `f32`, integers give `u32` or `i32`, and normalised integers of 8 and 16 bits give `f32`"
)]
pub trait Fetched: sealed::Sealed + bytemuck::Pod {}

macro_rules! fetched {
    ($($lane:ty),*) => {$(
        fetched! {
            $lane, $lane, 1, |[x, ..]| x;
            $lane, [$lane; 2], 2, |[x, y, ..]| [x, y];
            $lane, [$lane; 4], 4, |lanes| lanes;
        }
    )*};
    ($($lane:ty, $fetched:ty, $components:literal, |$lanes:pat_param| $of:expr;)*) => {$(
        impl sealed::Sealed for $fetched {
            type Lane = $lane;
            const CODE: u32 = <$lane as Lane>::CODE * 8 + $components;

            #[inline(always)]
            fn of($lanes: [$lane; 4]) -> $fetched {
                $of
            }
        }

        impl Fetched for $fetched {}
    )*};
}
fetched!(f32, u32, i32);
