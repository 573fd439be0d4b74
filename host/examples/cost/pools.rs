//! Allocation and free in stream order beside `cuMemAllocAsync` and `cuMemFreeAsync`.

use warpsmith_driver::raw;
use warpsmith_host::prelude::*;

use crate::compare::{Row, expect};

const PAIRS: u32 = 200;
const BYTES: usize = 1 << 20;

/// The CPU's time for an allocation and the free of it.
pub fn allocation(gpu: &Gpu) -> Result<Row> {
    gpu.default_pool()?.set_release_threshold(u64::MAX)?;
    let stream = gpu.stream()?;
    let raw_stream: raw::CUstream = stream.as_raw().cast();
    let pairs = if gpu.is_simulator() { 10 } else { PAIRS };
    Row::measure(
        gpu,
        "allocation and free of 1 MiB in stream order",
        "1.05",
        pairs,
        || {
            for _ in 0..pairs {
                // SAFETY: nothing reads it.
                drop(unsafe { stream.uninit::<u8>(BYTES) }?);
            }
            Ok(())
        },
        || {
            for _ in 0..pairs {
                let mut address = 0;
                // SAFETY: the stream is alive, and the driver writes one address.
                expect(unsafe { raw::cuMemAllocAsync(&mut address, BYTES, raw_stream) });
                // SAFETY: the memory was allocated above, in this stream.
                expect(unsafe { raw::cuMemFreeAsync(address, raw_stream) });
            }
            Ok(())
        },
    )
}
