//! A part for writing is one of one type at a time.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(8)?;
    let part = buffer.slice_mut(..);
    let mut bytes = part.cast_mut::<u8>()?;
    let mut words = part.cast_mut::<u32>()?;
    stream.fill(&mut bytes, 1)?;
    stream.fill(&mut words, 1)
}
