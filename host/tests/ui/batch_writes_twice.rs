//! Each copy of a batch has memory of its own to write, which nothing else of the batch reads.

use warpsmith_host::prelude::*;
use warpsmith_host::{CopyBatch, DiscardBatch, Extent1};

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let texels = stream.zeroed::<u32>(4)?;
    let mut line = stream.array_zeroed::<u32, _>(Extent1 { width: 4 })?;
    let mut back = stream.zeroed::<u32>(4)?;
    let mut batch = CopyBatch::new();
    batch.copy_to_array(&texels, &mut line)?;
    batch.copy_from_array(&line, &mut back)?;
    stream.copy_batch(batch)?;

    let mut memory = gpu.unified::<u32>(4)?.into_uninit();
    let mut batch = DiscardBatch::new();
    batch.discard(&mut memory);
    let _ = stream.fill_uninit(memory, 1)?;
    stream.discard_batch(batch)
}
