//! A step of a long short-term memory.

use super::prelude::*;

case!(lstm_cell: "cells of a long short-term memory", "rows", simulator [5, 1], gpu 1 << 13);

/// Cells of a row.
const SIZE: usize = 500;

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let gates = draw::<f32>(1, rows * 4 * SIZE);
    let biases = draw::<f32>(2, 4 * SIZE);
    let start: Vec<[f32; 2]> = draw::<f32>(3, rows * 2 * SIZE).as_chunks().0.to_vec();
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let want = start
        .iter()
        .enumerate()
        .flat_map(|(i, cell)| {
            let (row, column) = (i / SIZE, i % SIZE);
            let gate = |g: usize| {
                let at = g * SIZE + column;
                f64::from(gates[row * 4 * SIZE + at]) + f64::from(biases[at])
            };
            let kept = sigmoid(gate(1)) * f64::from(cell[0]);
            let memory = kept + sigmoid(gate(0)) * gate(2).tanh();
            [memory, sigmoid(gate(3)) * memory.tanh()]
        })
        .collect();
    let check = nearly::<f32>(want, 1e-5);
    let kernel = session.pair(kernels::lstm_cell::lstm_cell, "lstm_cell")?;
    let gates = session.stream.upload(&gates)?;
    let biases = session.stream.upload(&biases)?;
    problem(
        session,
        format!("{rows} rows of {SIZE}"),
        &start,
        move |session, side, cells| {
            let grid = Grid::cover(rows * SIZE, 256);
            let gates = gates.matrix(rows, 4 * SIZE)?;
            launch_pair!(session, side, kernel, grid, (gates, &biases, cells));
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}
