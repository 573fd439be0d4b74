//! Attention of one head, a warp a query.

use warpsmith_device::prelude::*;

/// Numbers of a query, a key and a value.
pub const SIZE: usize = 64;

/// `out` = for each query the values, weighted by the softmax of its products with the keys. The maximum and the sum are corrected as
/// keys are met.
#[kernel]
pub fn attention_row(
    queries: Matrix<f32>,
    keys: Matrix<f32>,
    values: Matrix<f32>,
    scale: f32,
    mut out: RowPerWarp<f32>,
) {
    let lane = warp::lane() as usize;
    let Some(mut own) = out.mine() else { return };
    let query = queries.row(own.row());
    let halves = |row: &[f32]| (row[lane], row[lane + 32]);
    let (q0, q1) = halves(query);
    let mut max = f32::NEG_INFINITY;
    let mut sum = 0.0;
    let mut total = [0.0; 2];
    for at in 0..keys.rows() {
        let (k0, k1) = halves(keys.row(at));
        let score = scale * warp::reduce(q0 * k0 + q1 * k1, |a, b| a + b);
        let new_max = score.max(max);
        let (kept, weight) = ((max - new_max).exp_approx(), (score - new_max).exp_approx());
        let (v0, v1) = halves(values.row(at));
        sum = sum * kept + weight;
        total = [total[0] * kept + weight * v0, total[1] * kept + weight * v1];
        max = new_max;
    }
    for ((_, to), total) in own.strided().zip(total) {
        *to = total / sum;
    }
}
