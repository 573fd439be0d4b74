//! Neighbours of points, found in a tree of boxes.

use super::prelude::*;
use kernels::bvh_count::{Node, distance};

case!(bvh_count: "neighbours of points, by a tree of boxes", "points", simulator [300, 1], gpu 1 << 19);

/// Most points of a leaf.
const LEAF: usize = 8;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    // Whole numbers below 2^11, whose distances are exact: no point is on the edge for one and not for the other.
    let side = 16.0 * (n as f32).cbrt().ceil();
    let place = |x: &[f32]| [x[0], x[1], x[2]].map(|x| ((x + 1.0) * 0.5 * side).floor());
    let mut points: Vec<[f32; 3]> = draw::<f32>(1, 3 * n).chunks_exact(3).map(place).collect();
    let mut queries: Vec<[f32; 3]> = draw::<f32>(2, 3 * n).chunks_exact(3).map(place).collect();
    queries.sort_by_key(|query| query.map(|x| x as u32 / 64));
    let nodes = tree(&mut points);
    let radius = 24.0;
    // The oracle looks at the points of the slab around a query.
    let mut by_x = points.clone();
    by_x.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let step = n.div_ceil(2000);
    let of_query = |query: &[f32; 3]| {
        let start = by_x.partition_point(|point| point[0] < query[0] - radius);
        by_x[start..]
            .iter()
            .take_while(|point| point[0] <= query[0] + radius)
            .filter(|point| distance(point, query) <= radius * radius)
            .count() as u32
    };
    let check = exactly(queries.iter().step_by(step).map(of_query).collect());
    let kernel = session.pair(kernels::bvh_count::bvh_count, "bvh_count")?;
    let nodes = session.stream.upload(&nodes)?;
    let points = session.stream.upload(&points)?;
    let queries = session.stream.upload(&queries)?;
    problem(
        session,
        format!("{n} points, {} boxes", nodes.len()),
        &vec![u32::MAX; n],
        move |session, side, counts| {
            let grid = Grid::cover(n, 128);
            let arguments = (&nodes, &points, &queries, radius, counts);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        every(step, check),
    )
}

/// The boxes around the points, which it sorts.
fn tree(points: &mut [[f32; 3]]) -> Vec<Node> {
    let mut nodes = vec![around(points, 0)];
    let mut open = vec![(0, 0..points.len())];
    while let Some((at, range)) = open.pop() {
        if range.len() <= LEAF {
            nodes[at].count = range.len() as u32;
            nodes[at].first = range.start as u32;
            continue;
        }
        let Node { low, high, .. } = nodes[at];
        let extent = |axis: &usize| (high[*axis] - low[*axis]) as u32;
        let axis = (0..3).max_by_key(extent).expect("there are three axes");
        let middle = range.len() / 2;
        points[range.clone()].select_nth_unstable_by(middle, |a, b| a[axis].total_cmp(&b[axis]));
        let halves = [
            range.start..range.start + middle,
            range.start + middle..range.end,
        ];
        nodes[at].first = nodes.len() as u32;
        for half in halves {
            open.push((nodes.len(), half.clone()));
            nodes.push(around(&points[half.clone()], half.start));
        }
    }
    nodes
}

/// The box around some points.
fn around(points: &[[f32; 3]], first: usize) -> Node {
    let extreme = |of: fn(f32, f32) -> f32| {
        let mut points = points.iter().copied();
        let first = points.next().expect("a box has points");
        points.fold(first, |a, b| std::array::from_fn(|i| of(a[i], b[i])))
    };
    Node {
        low: extreme(f32::min),
        first: first as u32,
        high: extreme(f32::max),
        count: 0,
    }
}
