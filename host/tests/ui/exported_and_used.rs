//! What was handed over is the other library's.

use warpsmith_host::interop::dlpack::Consumer;
use warpsmith_host::prelude::*;

fn hand_over(stream: &Stream, numbers: DeviceBuffer<f32>) -> Result<Vec<f32>> {
    let tensor = numbers.into_dlpack(Consumer::Own(stream), &[1])?;
    let seen = stream.download(&numbers)?;
    drop(tensor);
    Ok(seen)
}

fn main() {}
