//! Three-dimensional data in global memory, in which each thread writes the element at its own position.

use core::marker::PhantomData;

use crate::thread;

/// `depth` layers of `rows` rows of `columns` elements, without gaps, of which each thread of a three-dimensional launch owns the
/// element at its position: layer `block.z * dim.z + thread.z`, row and column likewise by y and x.
///
/// Written as a parameter: `mut out: VolumeOut<f32>`. Works in launches of any dimensions. The launch passes
/// `buffer.volume_mut(depth, rows, columns)?`.
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
pub struct VolumeOut<'a, T> {
    pointer: *mut T,
    depth: u32,
    rows: u32,
    columns: u32,
    data: PhantomData<&'a mut [T]>,
}

impl<T> VolumeOut<'_, T> {
    /// # Safety
    /// `pointer` is valid for reads and writes of `depth * rows * columns` elements for as long as the kernel runs, and during it
    /// reached through this view only, of which every thread has a copy made from the same arguments.
    #[inline(always)]
    pub(crate) unsafe fn from_raw_parts(
        pointer: *mut T,
        depth: u32,
        rows: u32,
        columns: u32,
    ) -> Self {
        // SAFETY: the pointer is valid, by the function's condition.
        unsafe { super::assume_valid(pointer) };
        VolumeOut {
            pointer,
            depth,
            rows,
            columns,
            data: PhantomData,
        }
    }

    /// The number of layers.
    #[inline(always)]
    pub fn depth(&self) -> usize {
        self.depth as usize
    }

    /// The number of rows of a layer.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// The number of columns of a row.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.columns as usize
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
            let index = (layer * self.rows() + row) * self.columns() + column;
            // SAFETY: in bounds, and no other thread has this position.
            Some(unsafe { &mut *self.pointer.add(index) })
        } else {
            None
        }
    }
}
