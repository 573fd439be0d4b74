//! Inverses of matrices of four rows.

use super::prelude::*;
use crate::problem::is_inverse;

case!(inverse_4x4: "inverses of 4 x 4 matrices, a thread a matrix", "matrices", simulator [300, 1], gpu 1 << 20);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let mut values = draw::<f32>(1, 16 * n);
    // A large diagonal, so that rows need not be exchanged.
    for matrix in values.chunks_exact_mut(16) {
        matrix.iter_mut().step_by(5).for_each(|x| *x += 5.0);
    }
    let matrices: Vec<[[f32; 4]; 4]> = values.as_chunks().0.as_chunks().0.to_vec();
    let kernel = session.pair(kernels::inverse_4x4::inverse_4x4, "inverse_4x4")?;
    let on_device = session.stream.upload(&matrices)?;
    problem(
        session,
        format!("{n} matrices"),
        &vec![[[f32::NAN; 4]; 4]; n],
        move |session, side, inverses| {
            launch_pair!(
                session,
                side,
                kernel,
                Grid::cover(n, 256),
                (&on_device, inverses)
            );
            Ok(())
        },
        move |got| is_inverse(got, &matrices),
    )
}
