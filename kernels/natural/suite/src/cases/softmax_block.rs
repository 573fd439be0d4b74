//! Softmax of rows, a block a row.

use super::prelude::*;
use super::softmax_warp::softmax;
use kernels::softmax_block::THREADS;

case!(softmax_block: "softmax of rows, a block a row", "rows", simulator [5, 1], gpu 1 << 13);

const COLUMNS: usize = 5000;

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let x = draw::<f32>(1, rows * COLUMNS);
    let kernel = session.pair(kernels::softmax_block::softmax_block, "softmax_block")?;
    let on_device = session.stream.upload(&x)?;
    problem(
        session,
        format!("{rows} rows of {COLUMNS}"),
        &vec![f32::NAN; rows * COLUMNS],
        move |session, side, out| {
            let grid = Grid::new(rows as u32, THREADS as u32);
            let x = on_device.matrix(rows, COLUMNS)?;
            let out = out.matrix_mut(rows, COLUMNS)?;
            launch_pair!(session, side, kernel, grid, (x, out));
            Ok(())
        },
        nearly(softmax(&x, COLUMNS), 1e-5),
    )
}
