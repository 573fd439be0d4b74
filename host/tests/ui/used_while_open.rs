//! The device writes memory that the host has open.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let mut unified = gpu.unified::<u32>(8)?;
    let open = unified.host()?;
    stream.fill(&mut unified, 1)?;
    println!("{}", open[0]);

    let mut pinned = gpu.pinned::<u32>(8)?;
    let buffer = stream.zeroed::<u32>(8)?;
    let open = pinned.host_mut()?;
    stream.copy_to_host(&buffer, &mut pinned)?;
    drop(open);
    Ok(())
}
