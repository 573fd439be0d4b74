//! What an executable graph is given lives as long as it: no function that borrows, no value that does.
// covers: GRAPH-40, GRAPH-53

use std::cell::Cell;

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open(DeviceChoice::Simulator)?;
    let mut graph = gpu.graph()?;
    let node = graph.host(|| ())?;
    let mut ready = graph.instantiate()?;
    let count = std::sync::atomic::AtomicU32::new(0);
    ready.set_host(node, || {
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    })?;
    graph.keep(&count);
    graph.keep(std::rc::Rc::new(1));
    let cell = Cell::new(1);
    ready.set_host(node, move || cell.set(2))
}
