//! What is kept is dropped at any time: a borrow would have ended.

use warpsmith_host::prelude::*;

fn keep(stream: &Stream, memory: DevicePointer<u32>, owner: &Vec<u32>) -> Result<()> {
    // SAFETY: it does not compile.
    unsafe { stream.adopt(memory, 1, owner) }?;
    Ok(())
}

fn main() {}
