//! The product of a sparse matrix and a narrow dense one, a thread a row.

use warpsmith_device::prelude::*;

/// Columns of the dense matrix.
pub const COLUMNS: usize = 8;

/// `product` = the sparse matrix times the dense one. Row `i` of the sparse one has the entries from `starts[i]` to `starts[i + 1]`.
#[kernel]
pub fn spmm(
    starts: &[u32],
    columns: &[u32],
    values: &[f32],
    dense: &[[f32; COLUMNS]],
    mut product: PerThread<[[f32; COLUMNS]]>,
) {
    let row = thread::index();
    if let Some(out) = product.mine() {
        let mut sums = [0.0; COLUMNS];
        for entry in starts[row] as usize..starts[row + 1] as usize {
            let value = values[entry];
            let other = &dense[columns[entry] as usize];
            for (sum, x) in sums.iter_mut().zip(other) {
                *sum += value * x;
            }
        }
        *out = sums;
    }
}
