//! Parts of memory in pieces of one length.

use std::iter::FusedIterator;

use bytemuck::Pod;

use super::divided::Divided;
use super::pinned_slice::{PinnedSlice, PinnedSliceMut};
use super::slice::{DeviceSlice, DeviceSliceMut};

/// The pieces of a part of memory, each a part of its own: of [`DeviceSlice::chunks`], [`DeviceSliceMut::chunks_mut`] and their like.
///
/// Pieces for writing do not overlap, so that work on them in different streams may. They live as long as the part that they are of, whatever
/// becomes of this iterator.
pub struct Chunks<S> {
    /// What is left; `None` when nothing is.
    rest: Option<S>,
    remainder: S,
    /// The length of a piece, at least 1.
    length: usize,
}

impl<S: Divided> Chunks<S> {
    /// With a shorter one at the end where the length does not go in.
    pub(super) fn all(of: S, length: usize) -> Chunks<S> {
        let end = of.elements();
        Chunks::before(of, length, end)
    }

    /// Those of the full length alone.
    pub(super) fn exact(of: S, length: usize) -> Chunks<S> {
        let end = of.elements() - of.elements().checked_rem(length).unwrap_or(0);
        Chunks::before(of, length, end)
    }

    fn before(of: S, length: usize, end: usize) -> Chunks<S> {
        assert!(length != 0, "pieces of memory with 0 elements each");
        let (rest, remainder) = of.divide(end);
        Chunks {
            rest: (end > 0).then_some(rest),
            remainder,
            length,
        }
    }

    /// What is behind the last piece of `chunks_exact` and `chunks_exact_mut`: fewer elements than a piece has. `chunks` and `chunks_mut` leave
    /// nothing.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let stream = Gpu::open(DeviceChoice::Simulator)?.stream()?;
    /// let mut buffer = stream.zeroed::<u32>(7)?;
    /// let mut threes = buffer.slice_mut(..).chunks_exact_mut(3);
    /// for (mut piece, value) in threes.by_ref().zip(1..) {
    ///     stream.fill(&mut piece, value)?;
    /// }
    /// stream.fill(&mut threes.into_remainder(), 9)?;
    /// assert_eq!(stream.download(&buffer)?, [1, 1, 1, 2, 2, 2, 9]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_remainder(self) -> S {
        self.remainder
    }
}

impl<S: Divided> Iterator for Chunks<S> {
    type Item = S;

    fn next(&mut self) -> Option<S> {
        let rest = self.rest.take()?;
        if rest.elements() <= self.length {
            return Some(rest);
        }
        let (piece, rest) = rest.divide(self.length);
        self.rest = Some(rest);
        Some(piece)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.rest.as_ref().map_or(0, S::elements);
        let pieces = left.div_ceil(self.length);
        (pieces, Some(pieces))
    }
}

impl<S: Divided> DoubleEndedIterator for Chunks<S> {
    fn next_back(&mut self) -> Option<S> {
        let rest = self.rest.take()?;
        let pieces = rest.elements().div_ceil(self.length);
        if pieces == 1 {
            return Some(rest);
        }
        let (rest, piece) = rest.divide((pieces - 1) * self.length);
        self.rest = Some(rest);
        Some(piece)
    }
}

impl<S: Divided> ExactSizeIterator for Chunks<S> {}
impl<S: Divided> FusedIterator for Chunks<S> {}

impl<S: std::fmt::Debug> std::fmt::Debug for Chunks<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chunks")
            .field("rest", &self.rest)
            .field("remainder", &self.remainder)
            .field("length", &self.length)
            .finish()
    }
}

/// The pieces of a kind of part for reading, and of its kind for writing. `$five` is Rust source that makes the `numbers`, five `u32`, of the examples, in
/// `stream` of `gpu`.
macro_rules! chunks {
    ($read:ident, $write:ident, $five:literal) => {
        impl<'a, T: Pod> $read<'a, T> {
            /// Pieces of `length` elements, the last of fewer where the length does not go in.
            ///
            /// ```
            /// # use warpsmith_host::prelude::*;
            /// # fn main() -> Result<()> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let stream = gpu.stream()?;
            #[doc = $five]
            /// let pieces = numbers.slice(..).chunks(2);
            /// assert!(pieces.map(|piece| piece.len()).eq([2, 2, 1]));
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Panics
            ///
            /// `length` is 0.
            pub fn chunks(&self, length: usize) -> Chunks<$read<'a, T>> {
                Chunks::all(*self, length)
            }

            /// Pieces of `length` elements; [`Chunks::into_remainder`] gives what is left.
            ///
            /// ```
            /// # use warpsmith_host::prelude::*;
            /// # fn main() -> Result<()> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let stream = gpu.stream()?;
            #[doc = $five]
            /// let pieces = numbers.slice(..).chunks_exact(2);
            /// assert!(pieces.map(|piece| piece.len()).eq([2, 2]));
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Panics
            ///
            /// `length` is 0.
            pub fn chunks_exact(&self, length: usize) -> Chunks<$read<'a, T>> {
                Chunks::exact(*self, length)
            }
        }

        impl<'a, T: Pod> $write<'a, T> {
            /// Pieces of `length` elements, the last of fewer where the length does not go in. They do not overlap; work on them in different
            /// streams may.
            ///
            /// ```
            /// # use warpsmith_host::prelude::*;
            /// # fn main() -> Result<()> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let stream = gpu.stream()?;
            #[doc = $five]
            /// let pieces = numbers.slice_mut(..).chunks_mut(2);
            /// assert!(pieces.map(|piece| piece.len()).eq([2, 2, 1]));
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Panics
            ///
            /// `length` is 0.
            pub fn chunks_mut(self, length: usize) -> Chunks<$write<'a, T>> {
                Chunks::all(self.shared_out(), length)
            }

            /// As [`chunks_mut`](Self::chunks_mut), but all of `length` elements; [`Chunks::into_remainder`] gives what is left.
            ///
            /// ```
            /// # use warpsmith_host::prelude::*;
            /// # fn main() -> Result<()> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let stream = gpu.stream()?;
            #[doc = $five]
            /// let pieces = numbers.slice_mut(..).chunks_exact_mut(2);
            /// assert!(pieces.map(|piece| piece.len()).eq([2, 2]));
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Panics
            ///
            /// `length` is 0.
            pub fn chunks_exact_mut(self, length: usize) -> Chunks<$write<'a, T>> {
                Chunks::exact(self.shared_out(), length)
            }
        }
    };
}

chunks!(
    DeviceSlice,
    DeviceSliceMut,
    "let mut numbers = stream.upload(&[1_u32, 2, 3, 4, 5])?;"
);
chunks!(
    PinnedSlice,
    PinnedSliceMut,
    "let mut numbers = gpu.pinned_from(&[1_u32, 2, 3, 4, 5])?;"
);
