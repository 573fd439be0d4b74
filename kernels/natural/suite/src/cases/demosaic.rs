//! The colours of a picture.

use super::prelude::*;

case!(demosaic: "colours from Bayer's mosaic, by a match on the place", "columns", simulator [40, 1], gpu 1 << 13);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let raw = draw::<u8>(1, rows * columns);
    let at = |row: usize, column: usize, dy: usize, dx: usize| {
        let y = (row + dy).saturating_sub(1).min(rows - 1);
        let x = (column + dx).saturating_sub(1).min(columns - 1);
        u32::from(raw[y * columns + x])
    };
    // Red has even rows and columns, blue odd ones: in a row or column that has it a pixel looks straight on, else to both sides.
    let colour = |row: usize, column: usize, (has_row, has_column): (bool, bool)| {
        let dys: &[usize] = if has_row { &[1] } else { &[0, 2] };
        let dxs: &[usize] = if has_column { &[1] } else { &[0, 2] };
        let values = dys
            .iter()
            .flat_map(|&dy| dxs.iter().map(move |&dx| at(row, column, dy, dx)));
        values.sum::<u32>() / (dys.len() * dxs.len()) as u32
    };
    let pixel = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let (even_row, even_column) = (row % 2 == 0, column % 2 == 0);
        let red = colour(row, column, (even_row, even_column));
        let blue = colour(row, column, (!even_row, !even_column));
        let green = if even_row == even_column {
            let around = [(0, 1), (1, 0), (1, 2), (2, 1)];
            let sum: u32 = around.iter().map(|&(dy, dx)| at(row, column, dy, dx)).sum();
            sum / 4
        } else {
            at(row, column, 1, 1)
        };
        [red, green, blue].map(|value| value as u8)
    };
    let check = exactly((0..rows * columns).flat_map(pixel).collect());
    let kernel = session.pair(kernels::demosaic::demosaic, "demosaic")?;
    let raw = session.stream.upload(&raw)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![[0u8; 3]; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let raw = raw.matrix(rows, columns)?;
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (raw, out));
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}
