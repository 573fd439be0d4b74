//! Memory without contents is no memory that anything reads.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let mut memory = gpu.unified::<u32>(4)?.into_uninit();
    stream.discard(&mut memory)?;
    let _ = stream.download(&memory)?;
    let _ = memory.host()?;
    Ok(())
}
