//! The pieces of a part for writing borrow the memory, whatever became of their iterator.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(8)?;
    let mut pieces = buffer.slice_mut(..).chunks_mut(4);
    let mut first = pieces.next().expect("two");
    drop(pieces);
    let all = stream.download(&buffer)?;
    stream.fill(&mut first, all[0])
}
