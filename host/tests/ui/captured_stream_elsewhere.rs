//! A stream that takes part in a capture is used beside it.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let (mut stream, mut side) = (gpu.stream()?, gpu.stream()?);
    let mut buffer = stream.zeroed::<u32>(8)?;
    stream.capture(|capture| {
        capture.fork(&mut side)?;
        std::thread::scope(|scope| {
            scope.spawn(|| side.fill(&mut buffer, 1));
        });
        stream.synchronize()
    })?;
    Ok(())
}
