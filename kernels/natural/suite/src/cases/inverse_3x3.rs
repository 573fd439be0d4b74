//! Inverses of matrices of three rows.

use super::prelude::*;
use crate::problem::is_inverse;

case!(inverse_3x3: "inverses of 3 x 3 matrices, a thread a matrix", "matrices", simulator [300, 1], gpu 1 << 21);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let mut values = draw::<f32>(1, 9 * n);
    // A large diagonal, so that there is an inverse.
    for matrix in values.chunks_exact_mut(9) {
        matrix.iter_mut().step_by(4).for_each(|x| *x += 4.0);
    }
    let matrices: Vec<[[f32; 3]; 3]> = values.as_chunks().0.as_chunks().0.to_vec();
    let kernel = session.pair(kernels::inverse_3x3::inverse_3x3, "inverse_3x3")?;
    let on_device = session.stream.upload(&matrices)?;
    problem(
        session,
        format!("{n} matrices"),
        &vec![[[f32::NAN; 3]; 3]; n],
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
