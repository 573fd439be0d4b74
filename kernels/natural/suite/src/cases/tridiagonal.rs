//! Tridiagonal systems.

use super::prelude::*;
use kernels::tridiagonal::UNKNOWNS;

case!(tridiagonal: "tridiagonal systems of 16 unknowns, a thread a system", "systems", simulator [300, 1], gpu 1 << 20);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let rows = |seed, more: f32| -> Vec<[f32; UNKNOWNS]> {
        let values = draw::<f32>(seed, n * UNKNOWNS);
        let rows = values.as_chunks().0.iter();
        rows.map(|row: &[f32; UNKNOWNS]| row.map(|x| x + more))
            .collect()
    };
    let (lower, diagonal, upper) = (rows(1, 0.0), rows(2, 4.0), rows(3, 0.0));
    let solutions = rows(4, 0.0);
    let at = |row: &[f32; UNKNOWNS], i: usize| row.get(i).map_or(0.0, |&x| f64::from(x));
    let right: Vec<[f32; UNKNOWNS]> = (0..n)
        .map(|s| {
            std::array::from_fn(|i| {
                let x = &solutions[s];
                let before = at(&lower[s], i) * at(x, i.wrapping_sub(1));
                let after = at(&upper[s], i) * at(x, i + 1);
                (before + at(&diagonal[s], i) * at(x, i) + after) as f32
            })
        })
        .collect();
    let want = solutions.iter().flatten().map(|&x| f64::from(x)).collect();
    let check = nearly::<f32>(want, 1e-4);
    let kernel = session.pair(kernels::tridiagonal::tridiagonal, "tridiagonal")?;
    let lower = session.stream.upload(&lower)?;
    let diagonal = session.stream.upload(&diagonal)?;
    let upper = session.stream.upload(&upper)?;
    let right = session.stream.upload(&right)?;
    problem(
        session,
        format!("{n} systems of {UNKNOWNS}"),
        &vec![[f32::NAN; UNKNOWNS]; n],
        move |session, side, found| {
            let grid = Grid::cover(n, 256);
            let arguments = (&lower, &diagonal, &upper, &right, found);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}
