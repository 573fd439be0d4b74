//! Three-dimensional data in global memory, in which each thread writes the element at its own position.

use super::define::{extents, matrix_view};
use crate::thread;

matrix_view! {
    /// `depth` layers of `rows` rows of `columns` elements, of which each thread of a three-dimensional launch owns the element at its
    /// position: layer `block.z * dim.z + thread.z`, row and column likewise by y and x. Rows are `stride` elements apart, also from the last
    /// one of a layer to the first one of the next.
    ///
    /// Written as a parameter: `mut out: VolumeOut<f32>`. Works in launches of any dimensions. The launch passes
    /// `buffer.volume_mut(depth, rows, columns)?`, whose rows have no gaps, or a padded volume's `volume.volume_mut()`.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// The mean of the neighbours along z.
    /// #[kernel]
    /// pub fn blur(x: &[f32], mut out: VolumeOut<f32>) {
    ///     let (layer, row, column) = out.position();
    ///     let layers = out.depth();
    ///     let index = |layer: usize| (layer * out.rows() + row) * out.columns() + column;
    ///     let (below, above) = (index(layer.saturating_sub(1)), index((layer + 1).min(layers - 1)));
    ///     if let Some(to) = out.mine() {
    ///         *to = (x[below] + x[above]) * 0.5;
    ///     }
    /// }
    /// ```
    VolumeOut<T>(depth: u32, rows: u32, columns_and_stride: u64) of
        "`depth` layers of `rows` rows, whose columns and stride are [`volume_rows`](crate::view::volume_rows)"
}

/// The columns of a volume's rows, and the elements from row to row, as the one number that a kernel is passed: columns in the low half.
///
/// ```
/// assert_eq!(warpsmith_device::view::volume_rows(9, 128), 128 << 32 | 9);
/// ```
#[inline(always)]
pub const fn volume_rows(columns: u32, stride: u32) -> u64 {
    (stride as u64) << 32 | columns as u64
}

impl<T> VolumeOut<'_, T> {
    extents! {
        /// The number of layers.
        depth, depth32;
        /// The number of rows of a layer.
        rows, rows32;
    }

    /// The number of columns of a row.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.columns32() as usize
    }

    /// The number of columns of a row.
    #[inline(always)]
    pub fn columns32(&self) -> u32 {
        self.columns_and_stride as u32
    }

    /// The distance of two rows, in elements.
    #[inline(always)]
    pub fn stride(&self) -> usize {
        self.stride32() as usize
    }

    /// The distance of two rows, in elements.
    #[inline(always)]
    pub fn stride32(&self) -> u32 {
        (self.columns_and_stride >> 32) as u32
    }

    /// The thread's position: layer, row and column (they may be past the last ones).
    #[inline(always)]
    pub fn position(&self) -> (usize, usize, usize) {
        let along =
            |block: u32, size: u32, thread: u32| block as usize * size as usize + thread as usize;
        (
            along(
                thread::block_idx_z(),
                thread::block_dim_z(),
                thread::thread_idx_z(),
            ),
            along(
                thread::block_idx_y(),
                thread::block_dim_y(),
                thread::thread_idx_y(),
            ),
            thread::index(),
        )
    }

    /// The thread's own element, if the volume reaches so far.
    #[inline(always)]
    pub fn mine(&mut self) -> Option<&mut T> {
        let (layer, row, column) = self.position();
        if layer < self.depth() && row < self.rows() && column < self.columns() {
            // Where the sum may wrap around, the compiler does not know that the address is not null.
            // SAFETY: the volume has an element of this index, and the number of its elements is a `usize`.
            let index = unsafe {
                let row = (layer * self.rows() + row).unchecked_mul(self.stride());
                row.unchecked_add(column)
            };
            // SAFETY: in bounds, and no other thread has this position.
            Some(unsafe { &mut *self.pointer.add(index) })
        } else {
            None
        }
    }
}
