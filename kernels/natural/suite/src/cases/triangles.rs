//! Triangles of a graph.

use super::prelude::*;
use crate::problem::Sparse;

case!(triangles: "triangles of each edge, by sorted lists", "nodes", simulator [40, 2], gpu 1 << 17);

fn prepare(session: &Session, nodes: usize) -> Result<Box<dyn Problem>> {
    let mut graph = Sparse::draw(1, nodes, 16);
    for node in 0..nodes {
        let row = graph.row(node);
        graph.places[row].sort_unstable();
    }
    let edges: Vec<[u32; 2]> = (0..nodes)
        .flat_map(|node| {
            let row = &graph.places[graph.row(node)];
            row.iter().map(move |&to| [node as u32, to])
        })
        .collect();
    let want = edges.iter().map(|edge| common(&graph, *edge)).collect();
    let kernel = session.pair(kernels::triangles::triangles, "triangles")?;
    let starts = session.stream.upload(&graph.starts)?;
    let neighbours = session.stream.upload(&graph.places)?;
    let n = edges.len();
    let edges = session.stream.upload(&edges)?;
    problem(
        session,
        format!("{nodes} nodes, {n} edges"),
        &vec![u32::MAX; n],
        move |session, side, counts| {
            let grid = Grid::cover(n, 256);
            let arguments = (&starts, &neighbours, &edges, counts);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        exactly(want),
    )
}

/// How many neighbours both ends have, one that occurs several times as often as in the list that has it less often.
fn common(graph: &Sparse, [from, to]: [u32; 2]) -> u32 {
    let mut others = graph.places[graph.row(to as usize)].to_vec();
    let mut count = 0;
    for node in &graph.places[graph.row(from as usize)] {
        if let Some(at) = others.iter().position(|other| other == node) {
            others.swap_remove(at);
            count += 1;
        }
    }
    count
}
