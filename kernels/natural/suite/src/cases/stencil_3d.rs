//! A step of the heat equation.

use super::prelude::*;

case!(stencil_3d: "a stencil of seven points", "elements in each direction", simulator [9, 3], gpu 1 << 8);

const RATE: f32 = 0.1;

fn prepare(session: &Session, side: usize) -> Result<Box<dyn Problem>> {
    let (width, height, depth) = (side, side + 1, side + 2);
    let x = draw::<f32>(1, width * height * depth);
    let step = |i: usize| {
        let (column, row, layer) = (i % width, i / width % height, i / (width * height));
        let own = f64::from(x[i]);
        let is_inside = (1..width - 1).contains(&column)
            && (1..height - 1).contains(&row)
            && (1..depth - 1).contains(&layer);
        if !is_inside {
            return own;
        }
        let distances = [1, width, width * height];
        let sum: f64 = distances
            .iter()
            .map(|d| f64::from(x[i - d]) + f64::from(x[i + d]))
            .sum();
        own + f64::from(RATE) * (sum - 6.0 * own)
    };
    let want = (0..x.len()).map(step).collect();
    let kernel = session.pair(kernels::stencil_3d::stencil_3d, "stencil_3d")?;
    let x = session.stream.upload(&x)?;
    problem(
        session,
        format!("{width} x {height} x {depth}"),
        &vec![f32::NAN; x.len()],
        move |session, side, out| {
            let grid = Grid::cover(x.len(), 256);
            launch_pair!(session, side, kernel, grid, (&x, width, height, RATE, out));
            Ok(())
        },
        nearly(want, 1e-6),
    )
}
