//! Pieces of a part for reading are for reading.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let buffer = stream.zeroed::<u32>(8)?;
    for mut piece in buffer.slice(..).chunks(4) {
        stream.fill(&mut piece, 1)?;
    }
    Ok(())
}
