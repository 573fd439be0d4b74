//! Sixteen bytes at a time: the widest access a thread has, and the one that reaches the memory's full bandwidth.
//!
//! A [`Vector<f32>`] is four `f32` aligned to 16 bytes, so that loading or storing one is a single `ld.v4` or `st.v4`.
//! Slices are taken apart by [`AsVectors::vectors`]; the output view of the kind is
//! [`PerThreadVectors`](crate::view::PerThreadVectors).
//!
//! Beside it stand CUDA C++'s named vectors, [`Float2`] to [`Double4`], with fields x, y, z, w.

mod named;

pub use named::*;

use bytemuck::{Pod, Zeroable};

/// A type of which a whole number fits 16 bytes.
pub trait Lanes: Pod {
    /// How many.
    const LANES: usize;
    /// So many as an array.
    type Array: Pod;
}

macro_rules! lanes {
    ($($count:literal: $($ty:ty),*;)*) => {$($(
        impl Lanes for $ty {
            const LANES: usize = $count;
            type Array = [$ty; $count];
        }
    )*)*};
}

lanes! {
    2: f64, i64, u64;
    4: f32, i32, u32;
    8: i16, u16, half::f16, half::bf16;
    16: i8, u8;
}

/// Sixteen bytes of `T`, aligned to 16.
///
/// ```
/// use warpsmith_device::vector::Vector;
///
/// let Vector([a, b, c, d]) = Vector::<f32>([1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(a + b + c + d, 10.0);
/// assert_eq!((size_of::<Vector<u8>>(), align_of::<Vector<u8>>()), (16, 16));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(16))]
pub struct Vector<T: Lanes>(pub T::Array);

// SAFETY: an array of 16 bytes (see `lanes!`) of a type whose zeros are a value.
unsafe impl<T: Lanes> Zeroable for Vector<T> {}
// SAFETY: an array of 16 bytes of plain data (see `lanes!`), aligned to 16, so without padding.
unsafe impl<T: Lanes> Pod for Vector<T> {}

/// Slices as vectors.
pub trait AsVectors<T: Lanes> {
    /// The slice as whole vectors, and the up to `LANES - 1` elements after the last.
    ///
    /// # Panics
    /// If the slice does not begin at a multiple of 16 bytes. A whole buffer always does; a part of one may not.
    ///
    /// ```
    /// use warpsmith_device::vector::{AsVectors, Vector};
    ///
    /// let storage = [Vector::<u32>([0, 1, 2, 3]), Vector([4, 5, 6, 7])];
    /// let words: &[u32] = bytemuck::cast_slice(&storage);
    /// let (vectors, tail) = words[..7].vectors();
    /// assert_eq!(vectors, &storage[..1]);
    /// assert_eq!(tail, &[4, 5, 6]);
    /// ```
    fn vectors(&self) -> (&[Vector<T>], &[T]);
}

impl<T: Lanes> AsVectors<T> for [T] {
    #[inline(always)]
    fn vectors(&self) -> (&[Vector<T>], &[T]) {
        assert_aligned(self.as_ptr());
        let count = self.len() / T::LANES;
        // SAFETY: aligned, in bounds, and any bytes are a vector.
        unsafe {
            (
                core::slice::from_raw_parts(self.as_ptr().cast(), count),
                core::slice::from_raw_parts(
                    self.as_ptr().add(count * T::LANES),
                    self.len() - count * T::LANES,
                ),
            )
        }
    }
}

/// Panics unless `pointer` is aligned for a vector.
#[inline(always)]
pub(crate) fn assert_aligned<T>(pointer: *const T) {
    if !pointer.addr().is_multiple_of(16) {
        misaligned()
    }
}

#[cold]
#[inline(never)]
fn misaligned() -> ! {
    panic!("a slice that is accessed by vectors must begin at a multiple of 16 bytes")
}
