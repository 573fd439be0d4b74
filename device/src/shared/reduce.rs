//! All elements of a shared array combined to one, by a tree.

use super::{Element, SharedFilled};
use crate::{block, thread};

impl<T: Element, const N: usize> SharedFilled<'_, T, N> {
    /// Combines all elements to one, which every thread gets: by a tree, in which the elements of one half take those of the other half, with a
    /// [`block::sync`] before each step and behind the last one. The array's contents are used up.
    ///
    /// `operation` has to be associative and commutative. Sums of floating-point numbers are neither: they are rounded in the order of the tree,
    /// which depends on the number of elements alone. A block of fewer threads than elements
    /// ([`SharedArray::fill_with`](super::SharedArray::fill_with)) does more in each step.
    ///
    /// # Panics
    ///
    /// If there is no element.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// `sums[b]` = the sum of block `b`'s elements.
    /// #[kernel(launch_bounds(256, exact))]
    /// pub fn block_sums(x: &[f32], mut sums: PerBlock<[f32]>) {
    ///     let own = x.get(thread::index()).copied().unwrap_or(0.0);
    ///     let total = shared!([f32; 256]).write(own).reduce(|a, b| a + b);
    ///     if let Some(sum) = sums.leader() {
    ///         *sum = total;
    ///     }
    /// }
    /// ```
    #[inline(always)]
    pub fn reduce(self, operation: impl Fn(T, T) -> T) -> T {
        let (elements, mut length) = self.into_parts();
        assert!(length > 0, "a reduction of no elements");
        let (first, step) = (
            thread::linear_in_block() as usize,
            block::threads() as usize,
        );
        block::sync();
        while length > 1 {
            let half = length.div_ceil(2);
            let mut index = first;
            while index < length - half {
                // SAFETY: both are below `length`, so initialised and in bounds: each thread has filled its part before the first barrier.
                // Until the next barrier the element at `index` is used by the thread of this remainder alone, and the one that is
                // `half` further on, which is not below `half`, is written by none.
                unsafe {
                    let other = elements.add(index + half).read();
                    let own = elements.add(index);
                    own.write(operation(own.read(), other));
                }
                index += step;
            }
            length = half;
            block::sync();
        }
        // SAFETY: there is one element, and no thread writes behind the last barrier.
        unsafe { elements.read() }
    }
}
