//! A node is changed by the name of its kind alone, and switched off only if it is one that can be.
// covers: GRAPH-53, GRAPH-57

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open(DeviceChoice::Simulator)?;
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(1)?;
    let mut graph = gpu.graph()?;
    let fill = graph.fill(&mut words, 1)?;
    let host = graph.host(|| ())?;
    let mut ready = graph.instantiate()?;
    ready.set_host(fill, || ())?;
    ready.set_enabled(host, false)?;
    // Names of all nodes are none of a kind.
    let node = graph.nodes()?[0];
    ready.set_enabled(node, false)
}
