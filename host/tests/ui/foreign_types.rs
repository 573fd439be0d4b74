//! Types whose bytes mean nothing elsewhere are put into device memory.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let stream = Gpu::open_default()?.stream()?;
    stream.upload(&[String::from("text")])?;
    stream.zeroed::<&u32>(8)?;
    stream.filled(8, true)?;
    Ok(())
}
