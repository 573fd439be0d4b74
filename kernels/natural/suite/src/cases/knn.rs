//! The nearest points of queries.

use super::prelude::*;
use kernels::knn::NEAREST;

case!(knn: "the six nearest of all points", "queries", simulator [50, 1], gpu 1 << 17);

/// On a GPU; fewer on the simulator.
const POINTS: usize = 1000;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let places = |seed, n| -> Vec<[i32; 3]> {
        let places: Vec<i32> = below(seed, 3 * n, 200).iter().map(|&x| x as i32).collect();
        places.as_chunks().0.to_vec()
    };
    // With one query, there are fewer points than are looked for.
    let points = places(1, POINTS.min(3 * n + 2));
    let queries = places(2, n);
    let step = n.div_ceil(500);
    let want = queries
        .iter()
        .step_by(step)
        .flat_map(|query| {
            let distance = |point: &[i32; 3]| -> i32 {
                let squares = point.iter().zip(query).map(|(a, b)| (a - b) * (a - b));
                squares.sum()
            };
            let mut names: Vec<u32> = (0..points.len() as u32).collect();
            names.sort_by_key(|&name| distance(&points[name as usize]));
            names.resize(NEAREST.max(names.len()), u32::MAX);
            names.truncate(NEAREST);
            names
        })
        .collect();
    let check = exactly(want);
    let kernel = session.pair(kernels::knn::knn, "knn")?;
    let points = session.stream.upload(&points)?;
    let queries = session.stream.upload(&queries)?;
    problem(
        session,
        format!("{n} queries, {} points", points.len()),
        &vec![[0u32; NEAREST]; n],
        move |session, side, names| {
            let grid = Grid::cover(n, 128);
            launch_pair!(session, side, kernel, grid, (&points, &queries, names));
            Ok(())
        },
        every_array(step, check),
    )
}
