//! Shortest ways between all pairs of nodes: one step.

use super::prelude::*;

case!(floyd_warshall: "a step of all shortest ways", "nodes", simulator [40, 1], gpu 1 << 12);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let mut distances = below(1, n * n, 1000);
    for node in 0..n {
        distances[node * n + node] = 0;
    }
    let k = n / 2;
    let through = |i: usize| distances[i / n * n + k] + distances[k * n + i % n];
    let want = distances
        .iter()
        .enumerate()
        .map(|(i, &direct)| direct.min(through(i)))
        .collect();
    let kernel = session.pair(kernels::floyd_warshall::floyd_warshall, "floyd_warshall")?;
    problem(
        session,
        format!("{n} nodes"),
        &distances,
        move |session, side, distances| {
            let grid = Grid::cover_2d((n, n), (32, 8));
            // SAFETY: the buffer has `n` rows of `n` distances, and those on the diagonal are 0.
            unsafe { launch_pair!(unsafe session, side, kernel, grid, (distances, n, k)) };
            Ok(())
        },
        exactly(want),
    )
}
