//! A round of a search for shortest ways.

use super::prelude::*;
use crate::problem::Sparse;
use kernels::relax_edges::UNREACHED;

case!(relax_edges: "a round of Bellman's and Ford's shortest ways", "nodes", simulator [200, 2], gpu 1 << 20);

fn prepare(session: &Session, nodes: usize) -> Result<Box<dyn Problem>> {
    let graph = Sparse::draw(1, nodes, 16);
    let lengths = below(3, graph.places.len(), 100);
    let edges: Vec<[u32; 2]> = graph
        .places
        .iter()
        .zip(lengths)
        .map(|(&to, length)| [to, length + 1])
        .collect();
    // A quarter of the nodes was not reached.
    let distances: Vec<u32> = below(4, nodes, 400)
        .iter()
        .map(|&distance| if distance < 300 { distance } else { UNREACHED })
        .collect();
    let mut want = distances.clone();
    for node in (0..nodes).filter(|&node| distances[node] != UNREACHED) {
        for &[to, length] in &edges[graph.row(node)] {
            let shorter = &mut want[to as usize];
            *shorter = (*shorter).min(distances[node] + length);
        }
    }
    let kernel = session.pair(kernels::relax_edges::relax_edges, "relax_edges")?;
    let starts = session.stream.upload(&graph.starts)?;
    let edges = session.stream.upload(&edges)?;
    let before = session.stream.upload(&distances)?;
    let mut changed = session.stream.upload(&[0u32])?;
    problem(
        session,
        format!("{nodes} nodes, {} edges", edges.len()),
        &distances,
        move |session, side, shorter| {
            let grid = Grid::cover(nodes, 256);
            let arguments = (&starts, &edges, &before, &mut changed, shorter);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        exactly(want),
    )
}
