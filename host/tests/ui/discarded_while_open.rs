//! What the host has open, or a slice borrows, is not given up.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let buffer = gpu.unified::<u32>(4)?;
    let open = buffer.host()?;
    let part = buffer.slice(..2);
    let mut memory = buffer.into_uninit();
    stream.discard(&mut memory)?;
    let _ = stream.download(&part)?;
    let _ = open[0];
    Ok(())
}
