//! What is being downloaded is neither written nor dropped before the future is.

use warpsmith_host::prelude::*;

async fn written(stream: &Stream, mut buffer: DeviceBuffer<u32>) -> Result<Vec<u32>> {
    let download = stream.download_async(&buffer)?;
    stream.fill(&mut buffer, 2)?;
    download.await
}

async fn dropped(stream: &Stream, buffer: DeviceBuffer<u32>) -> Result<Vec<u32>> {
    let download = stream.download_async(&buffer)?;
    drop(buffer);
    download.await
}

fn main() {
    let _ = (written, dropped);
}
