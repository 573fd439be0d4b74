//! Perlin's noise.

use super::prelude::*;

case!(perlin: "Perlin's noise of four octaves", "columns", simulator [40, 1], gpu 1 << 12);

const OCTAVES: u32 = 4;
const SCALE: f32 = 1.0 / 32.0;

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let mut table: Vec<u8> = (0..=255).collect();
    table.sort_by_key(|&i| draw::<u32>(1, 256)[usize::from(i)]);
    let value = |i: usize| -> f64 {
        let (row, column) = (i / columns, i % columns);
        (0..OCTAVES)
            .map(|octave| {
                let scale = f64::from(SCALE) * f64::from(1 << octave);
                let layer = noise(&table, column as f64 * scale, row as f64 * scale);
                layer / f64::from(1 << octave)
            })
            .sum()
    };
    let want = (0..rows * columns).map(value).collect();
    let kernel = session.pair(kernels::perlin::perlin, "perlin")?;
    let table = session.stream.upload(&table)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, out| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let out = out.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (&table, OCTAVES, SCALE, out));
            Ok(())
        },
        nearly(want, 1e-4),
    )
}

/// A layer of noise.
fn noise(table: &[u8], x: f64, y: f64) -> f64 {
    let (left, top) = (x.floor(), y.floor());
    let fade = |t: f64| t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let corner = |dx: usize, dy: usize| {
        let first = usize::from(table[(left as usize + dx) % 256]);
        let hash = table[(first + top as usize % 256 + dy) % 256];
        let (x, y) = (x - left - dx as f64, y - top - dy as f64);
        let (x, y) = (
            if hash & 1 == 0 { x } else { -x },
            if hash & 2 == 0 { y } else { -y },
        );
        x + y
    };
    let (u, v) = (fade(x - left), fade(y - top));
    let above = (1.0 - u) * corner(0, 0) + u * corner(1, 0);
    let below = (1.0 - u) * corner(0, 1) + u * corner(1, 1);
    (1.0 - v) * above + v * below
}
