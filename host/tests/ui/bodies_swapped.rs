//! The body of a loop belongs to its node: it cannot change places with another graph.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open(DeviceChoice::Simulator)?;
    let (mut graph, mut other) = (gpu.graph()?, gpu.graph()?);
    let again = graph.condition(1)?;
    graph.while_loop(again, |body| {
        std::mem::swap(body, &mut *other);
        Ok(())
    })?;
    Ok(())
}
