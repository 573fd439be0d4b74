//! [`unroll!`](crate::unroll!): loops that are written out, so that arrays indexed by their counter stay in registers.

/// Repeats a block for each of the listed numbers, which are bound to a constant of type `usize` in turn.
///
/// CUDA C++'s `#pragma unroll`, as a promise instead of a request: short loops are unrolled without it, and so are those that index an array of up to
/// 512 bytes, as long as they do not grow too large; a loop that stays a loop puts the array into local memory. After `unroll!` no loop is
/// left whatever the optimiser decides, and every index is a constant.
///
/// The counter is a `const`, so it may be used wherever a constant may be: as an array's length, or as a const generic
/// argument. `break` and `continue` inside the block belong to a loop around the `unroll!`.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// /// Each thread's sums of four strided columns, which stay in registers.
/// #[kernel]
/// pub fn column_sums(x: &[f32], mut sums: PerThread<[[f32; 4]]>) {
///     let mut sum = [0.0; 4];
///     let mut i = thread::index();
///     while i + 96 < x.len() {
///         unroll!(column in [0, 1, 2, 3] {
///             sum[column] += x[i + 32 * column];
///         });
///         i += grid::threads_x();
///     }
///     if let Some(out) = sums.mine() {
///         *out = sum;
///     }
/// }
/// ```
///
/// ```
/// let mut squares = [0; 3];
/// warpsmith_device::unroll!(i in [0, 1, 2] { squares[i] = i * i; });
/// assert_eq!(squares, [0, 1, 4]);
/// ```
#[macro_export]
macro_rules! unroll {
    ($counter:ident in [$($value:literal),* $(,)?] $body:block) => {
        $({
            #[allow(non_upper_case_globals)]
            const $counter: usize = $value;
            // The counter is a constant, zero among its values.
            #[allow(
                clippy::absurd_extreme_comparisons,
                clippy::erasing_op,
                clippy::identity_op
            )]
            $body
        })*
    };
}
