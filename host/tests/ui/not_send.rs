//! What belongs to one thread goes to another.

use std::rc::Rc;

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;

    let counter = Rc::new(1);
    stream.host_fn(move || println!("{counter}"))?;

    let graph = gpu.graph()?;
    std::thread::scope(|scope| {
        scope.spawn(|| graph.instantiate().map(drop));
    });
    Ok(())
}
