//! What is borrowed to be read, and memory that is not page-locked, are the destination of a copy to page-locked memory.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let buffer = stream.zeroed::<u32>(4)?;
    let pinned = gpu.pinned::<u32>(8)?;
    stream.copy_to_host(&buffer, &mut pinned.slice(..4))?;
    stream.copy_to_host(&buffer, &mut stream.zeroed::<u32>(4)?)?;
    Ok(())
}
