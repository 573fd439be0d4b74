//! What hangs together in a graph.

use super::prelude::*;

case!(union_find: "the parts of a graph, by trees of nodes", "nodes", simulator [300, 2], gpu 1 << 21);

fn prepare(session: &Session, nodes: usize) -> Result<Box<dyn Problem>> {
    // As many edges as nodes: a large part, and many small ones. Most edges lead to a node nearby.
    let ends = below(1, 2 * nodes, nodes as u32);
    let edges: Vec<[u32; 2]> = ends
        .chunks_exact(2)
        .map(|ends| match ends[0] % 8 {
            0 => [ends[0], ends[1]],
            near => [ends[0], (ends[0] + near * 5) % nodes as u32],
        })
        .collect();
    let start: Vec<u32> = (0..nodes as u32).collect();
    let mut parents = start.clone();
    for &[a, b] in &edges {
        let (a, b) = (root(&mut parents, a), root(&mut parents, b));
        parents[a.max(b) as usize] = a.min(b);
    }
    let check = exactly(roots(parents));
    let kernel = session.pair(kernels::union_find::union_find, "union_find")?;
    let edges = session.stream.upload(&edges)?;
    problem(
        session,
        format!("{nodes} nodes, {} edges", edges.len()),
        &start,
        move |session, side, parents| {
            let grid = Grid::cover(edges.len(), 256);
            launch_pair!(session, side, kernel, grid, (&edges, parents));
            Ok(())
        },
        // The trees may be any; their roots are the least nodes.
        move |got| check(&roots(got.to_vec())),
    )
}

/// The root of each node.
fn roots(mut parents: Vec<u32>) -> Vec<u32> {
    for node in 0..parents.len() {
        // Parents are smaller than their children, so theirs are done.
        parents[node] = parents[parents[node] as usize];
    }
    parents
}

/// The root of a node; the way to it gets shorter.
fn root(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        let parent = parents[node as usize];
        parents[node as usize] = parents[parent as usize];
        node = parent;
    }
    node
}
