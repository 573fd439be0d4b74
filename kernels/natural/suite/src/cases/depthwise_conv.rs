//! Planes folded with filters of their own.

use super::prelude::*;

case!(depthwise_conv: "planes folded with 3 x 3 filters of their own", "pictures", simulator [2, 1], gpu 64);

const CHANNELS: usize = 5;
const ROWS: usize = 70;
const COLUMNS: usize = 300;

fn prepare(session: &Session, pictures: usize) -> Result<Box<dyn Problem>> {
    let layers = pictures * CHANNELS;
    let x = draw::<f32>(1, layers * ROWS * COLUMNS);
    let filters: Vec<[[f32; 3]; 3]> = draw::<f32>(2, 9 * CHANNELS)
        .chunks_exact(9)
        .map(|x| std::array::from_fn(|dy| std::array::from_fn(|dx| x[3 * dy + dx])))
        .collect();
    let biases = draw::<f32>(3, CHANNELS);
    let of_place = |at: usize| {
        let (layer, place) = (at / (ROWS * COLUMNS), at % (ROWS * COLUMNS));
        let (row, column) = (place / COLUMNS, place % COLUMNS);
        let mut sum = f64::from(biases[layer % CHANNELS]);
        for y in row.saturating_sub(1)..(row + 2).min(ROWS) {
            for x_in in column.saturating_sub(1)..(column + 2).min(COLUMNS) {
                let weight = filters[layer % CHANNELS][y + 1 - row][x_in + 1 - column];
                sum += f64::from(weight) * f64::from(x[(layer * ROWS + y) * COLUMNS + x_in]);
            }
        }
        sum.max(0.0)
    };
    let want = (0..x.len()).map(of_place).collect();
    let kernel = session.pair(kernels::depthwise_conv::depthwise_conv, "depthwise_conv")?;
    let filters = session.stream.upload(&filters)?;
    let biases = session.stream.upload(&biases)?;
    let start = vec![f32::NAN; x.len()];
    let x = session.stream.upload(&x)?;
    problem(
        session,
        format!("{pictures} pictures of {CHANNELS} x {ROWS} x {COLUMNS}"),
        &start,
        move |session, side, out| {
            let grid = Grid::cover_3d((COLUMNS, ROWS, layers), (32, 8, 1));
            let out = out.volume_mut(layers, ROWS, COLUMNS)?;
            let arguments = (&x, &filters, &biases, out);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        nearly(want, 1e-5),
    )
}
