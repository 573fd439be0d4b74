//! A fluid carries a quantity with it: a step that looks back along the flow.

use warpsmith_device::prelude::*;

/// A quantity that is known at whole places, and beyond the border as at the border.
struct Field<'a> {
    values: Matrix<'a, f32>,
}

impl Field<'_> {
    /// The quantity at any place: a mean of the four around it.
    fn sample(&self, x: f32, y: f32) -> f32 {
        let (rows, columns) = (self.values.rows(), self.values.columns());
        let x = x.clamp(0.0, (columns - 1) as f32);
        let y = y.clamp(0.0, (rows - 1) as f32);
        let (left, top) = (x as usize, y as usize);
        let (right, bottom) = ((left + 1).min(columns - 1), (top + 1).min(rows - 1));
        let mix = |row: usize| {
            let (a, b) = (self.values[(row, left)], self.values[(row, right)]);
            a + (b - a) * (x - left as f32)
        };
        let (upper, lower) = (mix(top), mix(bottom));
        upper + (lower - upper) * (y - top as f32)
    }
}

/// `out` = the quantity after the time `dt`, in which the flow carries it and it decays.
#[kernel]
pub fn advect(
    flow: Matrix<[f32; 2]>,
    quantity: Matrix<f32>,
    dt: f32,
    decay: f32,
    mut out: MatrixOut<f32>,
) {
    let (row, column) = (out.row(), out.column());
    let field = Field { values: quantity };
    if let Some(out) = out.mine() {
        let [u, v] = flow[(row, column)];
        let carried = field.sample(column as f32 - dt * u, row as f32 - dt * v);
        *out = carried / (1.0 + decay * dt);
    }
}
