//! What a graph owns may be dropped by any thread.
// covers: GRAPH-40

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open(DeviceChoice::Simulator)?;
    let mut graph = gpu.graph()?;
    // A value that is sent may be kept, one that counts its owners on one thread may not.
    graph.keep(std::sync::Arc::new(1));
    graph.keep(std::rc::Rc::new(1));
    Ok(())
}
