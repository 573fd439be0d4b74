//! Attention of one head.

use super::prelude::*;
use kernels::attention_row::SIZE;

case!(attention_row: "attention of one head, a warp a query", "queries", simulator [9, 1], gpu 1 << 12);

const SCALE: f32 = 0.5;

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let others = rows + 3;
    let queries = draw::<f32>(1, rows * SIZE);
    let (keys, values) = (draw::<f32>(2, others * SIZE), draw::<f32>(3, others * SIZE));
    // The oracle of a large problem takes queries here and there: all would take it minutes.
    let step = rows.div_ceil(64);
    let of_query = |query: &[f32]| -> Vec<f64> {
        let product = |(a, b): (&f32, &f32)| f64::from(*a) * f64::from(*b);
        let mut total = vec![0.0; SIZE];
        let mut sum = 0.0;
        for (key, value) in keys.chunks_exact(SIZE).zip(values.chunks_exact(SIZE)) {
            let score: f64 = query.iter().zip(key).map(product).sum();
            let weight = (f64::from(SCALE) * score).exp();
            sum += weight;
            for (total, &value) in total.iter_mut().zip(value) {
                *total += weight * f64::from(value);
            }
        }
        total.iter().map(|total| total / sum).collect()
    };
    let want = queries
        .chunks_exact(SIZE)
        .step_by(step)
        .flat_map(of_query)
        .collect();
    let check = nearly::<f32>(want, 1e-5);
    let kernel = session.pair(kernels::attention_row::attention_row, "attention_row")?;
    let queries = session.stream.upload(&queries)?;
    let keys = session.stream.upload(&keys)?;
    let values = session.stream.upload(&values)?;
    problem(
        session,
        format!("{rows} queries, {others} keys of {SIZE}"),
        &vec![f32::NAN; rows * SIZE],
        move |session, side, out| {
            let grid = Grid::cover(rows * 32, 256);
            let queries = queries.matrix(rows, SIZE)?;
            let keys = keys.matrix(others, SIZE)?;
            let values = values.matrix(others, SIZE)?;
            let out = out.matrix_mut(rows, SIZE)?;
            let arguments = (queries, keys, values, SCALE, out);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        move |got| {
            let some = got.chunks_exact(SIZE).step_by(step);
            check(&some.flatten().copied().collect::<Vec<_>>())
        },
    )
}
