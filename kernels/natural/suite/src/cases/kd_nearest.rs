//! The nearest point of each query.

use super::prelude::*;
use kernels::kd_nearest::{Point, search};

case!(kd_nearest: "the nearest point of each query, by a tree", "points", simulator [200, 1], gpu 1 << 19);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let place = |x: &[f32]| [x[0], x[1], x[2]];
    let mut points: Vec<Point> = draw::<f32>(1, 3 * n)
        .chunks_exact(3)
        .zip(0..)
        .map(|(x, name)| Point { at: place(x), name })
        .collect();
    let queries: Vec<[f32; 3]> = draw::<f32>(2, 3 * n).chunks_exact(3).map(place).collect();
    let mut tree = vec![points[0]; n];
    build(&mut points, 0, &mut tree);
    let step = n.div_ceil(1000);
    let want = queries
        .iter()
        .step_by(step)
        .map(|query| search(&tree, query))
        .collect();
    let check = exactly(want);
    let kernel = session.pair(kernels::kd_nearest::kd_nearest, "kd_nearest")?;
    let tree = session.stream.upload(&tree)?;
    let queries = session.stream.upload(&queries)?;
    problem(
        session,
        format!("{n} points"),
        &vec![u32::MAX; n],
        move |session, side, nearest| {
            let grid = Grid::cover(n, 128);
            launch_pair!(session, side, kernel, grid, (&tree, &queries, nearest));
            Ok(())
        },
        every(step, check),
    )
}

/// Puts the points into the tree of `node`.
fn build(points: &mut [Point], node: usize, tree: &mut [Point]) {
    if points.is_empty() {
        return;
    }
    // A heap's left tree is full but for the lowest layer.
    let layer = 1 << points.len().ilog2();
    let lowest = points.len() - (layer - 1);
    let left = (layer - 1) / 2 + lowest.min(layer / 2);
    let axis = (node + 1).ilog2() as usize % 3;
    points.select_nth_unstable_by(left, |a, b| a.at[axis].total_cmp(&b.at[axis]));
    tree[node] = points[left];
    build(&mut points[..left], 2 * node + 1, tree);
    build(&mut points[left + 1..], 2 * node + 2, tree);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_of_few() {
        let points: Vec<Point> = (0..13u8)
            .map(|i| Point {
                at: [i * 7 % 13, i * 5 % 11, i * 3 % 7].map(f32::from),
                name: u32::from(i),
            })
            .collect();
        let mut tree = points.clone();
        build(&mut points.clone(), 0, &mut tree);
        for point in points {
            let query = point.at.map(|x| x + 0.25);
            assert_eq!(search(&tree, &query), point.name);
        }
    }
}
