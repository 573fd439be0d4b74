//! A part of page-locked memory is written by a copy while the host has it open, is had twice at a time, and outlives its buffer,
//! and a batch writes one buffer twice.

use warpsmith_host::CopyBatch;
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

    let mut target = stream.zeroed::<u32>(4)?;
    let mut batch = CopyBatch::new();
    batch.copy(&buffer, &mut target)?;
    batch.copy(&buffer, &mut target)?;
    stream.copy_batch(batch)?;
    Ok(())
}
