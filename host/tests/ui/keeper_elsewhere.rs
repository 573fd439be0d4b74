//! What is kept is dropped in any thread.

use std::rc::Rc;

use warpsmith_host::prelude::*;

fn keep(stream: &Stream, memory: DevicePointer<u32>) -> Result<()> {
    // SAFETY: it does not compile.
    unsafe { stream.adopt(memory, 1, Rc::new(1)) }?;
    Ok(())
}

fn main() {}
