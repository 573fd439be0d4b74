//! Cholesky factors.

use super::prelude::*;
use kernels::cholesky::ROWS;

case!(cholesky: "Cholesky factors of 6 x 6 matrices, a thread a matrix", "matrices", simulator [300, 1], gpu 1 << 20);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let values = draw::<f32>(1, n * ROWS * ROWS);
    let mut factors: Vec<[[f32; ROWS]; ROWS]> = values.as_chunks().0.as_chunks().0.to_vec();
    for factor in &mut factors {
        for (i, row) in factor.iter_mut().enumerate() {
            row[i] = row[i].abs() + 2.0;
            row[i + 1..].fill(0.0);
        }
    }
    let product = |l: &[[f32; ROWS]; ROWS], i: usize, j: usize| -> f32 {
        let products = l[i].iter().zip(&l[j]);
        products
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum::<f64>() as f32
    };
    let matrices: Vec<[[f32; ROWS]; ROWS]> = factors
        .iter()
        .map(|l| std::array::from_fn(|i| std::array::from_fn(|j| product(l, i, j))))
        .collect();
    let flat = factors.as_flattened().as_flattened();
    let check = nearly::<f32>(flat.iter().map(|&x| f64::from(x)).collect(), 1e-4);
    let kernel = session.pair(kernels::cholesky::cholesky, "cholesky")?;
    let matrices = session.stream.upload(&matrices)?;
    problem(
        session,
        format!("{n} matrices"),
        &vec![[[f32::NAN; ROWS]; ROWS]; n],
        move |session, side, found| {
            launch_pair!(
                session,
                side,
                kernel,
                Grid::cover(n, 256),
                (&matrices, found)
            );
            Ok(())
        },
        move |got| check(got.as_flattened().as_flattened()),
    )
}
