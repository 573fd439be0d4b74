//! A function for later borrows from now.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let mut count = 0;
    stream.host_fn(|| count += 1)?;
    let text = String::new();
    gpu.graph()?.host(|| println!("{text}"))?;
    Ok(())
}
