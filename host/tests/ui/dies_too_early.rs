//! Views outlive the memory that they show, and a stream dies during its capture.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let mut stream = gpu.stream()?;

    let part = {
        let buffer = stream.zeroed::<u32>(8)?;
        buffer.slice(2..4)
    };
    stream.download(&part)?;

    let seen = {
        let pinned = gpu.pinned::<u32>(8)?;
        pinned.host()?
    };
    println!("{seen:?}");

    stream.capture(|capture| {
        let mut side = gpu.stream()?;
        let side = capture.fork(&mut side)?;
        capture.join(side)
    })?;
    Ok(())
}
