//! A level of a breadth-first search.

use super::prelude::*;
use crate::problem::Sparse;
use kernels::bfs_level::UNSEEN;

case!(bfs_level: "a level of a breadth-first search", "nodes", simulator [200, 1], gpu 1 << 20);

const DEPTH: u32 = 3;

fn prepare(session: &Session, nodes: usize) -> Result<Box<dyn Problem>> {
    let graph = Sparse::draw(1, nodes, 16);
    // A quarter of the nodes is of the level before, half was not seen.
    let levels: Vec<u32> = below(3, nodes, 4)
        .iter()
        .map(|&level| match level {
            0 => DEPTH,
            1 => DEPTH - 1,
            _ => UNSEEN,
        })
        .collect();
    let mut want = levels.clone();
    for node in (0..nodes).filter(|&node| levels[node] == DEPTH) {
        for at in graph.row(node) {
            let level = &mut want[graph.places[at] as usize];
            *level = (*level).min(DEPTH + 1);
        }
    }
    let kernel = session.pair(kernels::bfs_level::bfs_level, "bfs_level")?;
    let starts = session.stream.upload(&graph.starts)?;
    let neighbours = session.stream.upload(&graph.places)?;
    problem(
        session,
        format!("{nodes} nodes, {} edges", neighbours.len()),
        &levels,
        move |session, side, levels| {
            let grid = Grid::cover(nodes, 256);
            let arguments = (&starts, &neighbours, DEPTH, levels);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        exactly(want),
    )
}
