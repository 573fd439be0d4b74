//! A quantity carried by a flow.

use super::prelude::*;

case!(advect: "a quantity carried by a flow, sampled between places", "columns", simulator [40, 1], gpu 1 << 13);

const DT: f32 = 2.5;
const DECAY: f32 = 0.1;

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let flow: Vec<[f32; 2]> = draw::<f32>(1, 2 * rows * columns).as_chunks().0.to_vec();
    let quantity = draw::<f32>(2, rows * columns);
    // The two places around one, and the part that each has.
    let around = |place: f64, length: usize| {
        let place = place.max(0.0).min((length - 1) as f64);
        let first = place.floor() as usize;
        [(first, 1.0 - place.fract()), (first + 1, place.fract())]
    };
    let carried = |i: usize| {
        let back = |at: usize, speed: f32| at as f64 - f64::from(DT) * f64::from(speed);
        let [u, v] = flow[i];
        let xs = around(back(i % columns, u), columns);
        let ys = around(back(i / columns, v), rows);
        let mut sum = 0.0;
        for (y, y_part) in ys {
            for (x, x_part) in xs {
                let at = y.min(rows - 1) * columns + x.min(columns - 1);
                sum += y_part * x_part * f64::from(quantity[at]);
            }
        }
        sum / (1.0 + f64::from(DECAY) * f64::from(DT))
    };
    // A place is known to about a thousandth where the field is large.
    let want = (0..rows * columns).map(carried).collect();
    let kernel = session.pair(kernels::advect::advect, "advect")?;
    let flow = session.stream.upload(&flow)?;
    let quantity = session.stream.upload(&quantity)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let flow = flow.matrix(rows, columns)?;
            let quantity = quantity.matrix(rows, columns)?;
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(
                session,
                side,
                kernel,
                grid,
                (flow, quantity, DT, DECAY, out)
            );
            Ok(())
        },
        nearly(want, 5e-3),
    )
}
