//! A round of labels that spread in a graph.

use super::prelude::*;
use crate::problem::Sparse;

case!(label_components: "a round of labels spreading in a graph", "nodes", simulator [200, 1], gpu 1 << 20);

fn prepare(session: &Session, nodes: usize) -> Result<Box<dyn Problem>> {
    let graph = Sparse::draw(1, nodes, 16);
    // No label is larger than its node; some nodes still have their own.
    let labels: Vec<u32> = draw::<u32>(3, nodes)
        .iter()
        .zip(1..)
        .map(|(bits, number)| match bits % 3 {
            0 => number - 1,
            _ => bits % number,
        })
        .collect();
    let want = (0..nodes)
        .map(|node| {
            let mut label = labels[node];
            for &neighbour in &graph.places[graph.row(node)] {
                label = label.min(labels[neighbour as usize]);
            }
            labels[label as usize]
        })
        .collect();
    let kernel = session.pair(
        kernels::label_components::label_components,
        "label_components",
    )?;
    let starts = session.stream.upload(&graph.starts)?;
    let neighbours = session.stream.upload(&graph.places)?;
    let labels = session.stream.upload(&labels)?;
    let mut changed = session.stream.upload(&[0u32])?;
    problem(
        session,
        format!("{nodes} nodes, {} edges", neighbours.len()),
        &vec![u32::MAX; nodes],
        move |session, side, new| {
            let grid = Grid::cover(nodes, 256);
            let arguments = (&starts, &neighbours, &labels, &mut changed, new);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        exactly(want),
    )
}
