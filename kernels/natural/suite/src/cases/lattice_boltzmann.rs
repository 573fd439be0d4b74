//! A flow in two dimensions.

use super::prelude::*;
use kernels::lattice_boltzmann::DIRECTIONS;

case!(lattice_boltzmann: "a step of a flow, nine directions", "columns", simulator [40, 1], gpu 1 << 12);

const OMEGA: f32 = 0.75;

fn prepare(session: &Session, width: usize) -> Result<Box<dyn Problem>> {
    let height = width / 2 + 3;
    let cells = width * height;
    let start: Vec<f32> = draw::<f32>(1, 9 * cells)
        .iter()
        .enumerate()
        .map(|(i, x)| DIRECTIONS[i / cells].2 * (1.0 + 0.25 * x))
        .collect();
    let mut want = vec![0.0; 9 * cells];
    for at in 0..cells {
        let (row, column) = (at / width, at % width);
        let parts: [f64; 9] = std::array::from_fn(|q| {
            let (dx, dy, _) = DIRECTIONS[q];
            let x = (column + width).wrapping_add_signed(-dx as isize) % width;
            let y = (row + height).wrapping_add_signed(-dy as isize) % height;
            f64::from(start[q * cells + y * width + x])
        });
        let density: f64 = parts.iter().sum();
        let mean = |along: fn(&(i32, i32, f32)) -> i32| -> f64 {
            let moved = parts.iter().zip(&DIRECTIONS);
            let sum: f64 = moved.map(|(part, d)| f64::from(along(d)) * part).sum();
            sum / density
        };
        let (ux, uy) = (mean(|d| d.0), mean(|d| d.1));
        for (q, &(dx, dy, weight)) in DIRECTIONS.iter().enumerate() {
            let along = 3.0 * (f64::from(dx) * ux + f64::from(dy) * uy);
            let square = 1.5 * (ux * ux + uy * uy);
            let rest = f64::from(weight) * density * (1.0 + along + along * along / 2.0 - square);
            want[q * cells + at] = parts[q] + f64::from(OMEGA) * (rest - parts[q]);
        }
    }
    let kernel = session.pair(
        kernels::lattice_boltzmann::lattice_boltzmann,
        "lattice_boltzmann",
    )?;
    let start = session.stream.upload(&start)?;
    problem(
        session,
        format!("{height} x {width}"),
        &vec![f32::NAN; 9 * cells],
        move |session, side, to| {
            let grid = Grid::cover_2d((width, height), (32, 8));
            let arguments = (&start, width as u32, height as u32, OMEGA, to);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        nearly(want, 1e-5),
    )
}
