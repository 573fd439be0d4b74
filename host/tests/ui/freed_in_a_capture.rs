//! What a capture has freed cannot be used.
use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open(DeviceChoice::Simulator)?;
    let mut stream = gpu.stream()?;
    let mut result = stream.zeroed::<u32>(4)?;
    stream.capture(|capture| {
        let scratch = capture.zeroed::<u32>(4)?;
        capture.free(capture.stream(), scratch)?;
        capture.copy(&scratch, &mut result)
    })?;
    Ok(())
}
