//! Who launches or updates a graph that kernels launch has it for itself.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let other = gpu.graph()?;
    let ready = gpu.graph()?.instantiate_for_device_launch(&stream)?;
    let shared = &ready;
    shared.launch(&stream)?;
    shared.update(&other, &stream)?;
    Ok(())
}
