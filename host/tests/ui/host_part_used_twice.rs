//! A part of page-locked memory is written by a copy while the host has it open, twice at a time, and beyond its buffer; and memory that is
//! not page-locked is an end of such a copy.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let buffer = stream.zeroed::<u32>(4)?;
    let mut pinned = gpu.pinned::<u32>(8)?;

    let mut part = pinned.slice_mut(..4);
    let open = part.host_mut()?;
    stream.copy_to_host(&buffer, &mut part)?;
    drop(open);

    let one = pinned.slice_mut(..4);
    let other = pinned.slice_mut(4..);
    drop((one, other));

    let left = {
        let mut short = gpu.pinned::<u32>(8)?;
        let (left, _) = short.slice_mut(..).split_at_mut(4);
        left
    };
    drop(left);

    stream.copy_to_host(&buffer, &mut pinned.slice(..4))?;
    stream.copy_to_host(&buffer, &mut stream.zeroed::<u32>(4)?)?;
    Ok(())
}
