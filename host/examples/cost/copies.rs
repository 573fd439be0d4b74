//! Copies of page-locked memory beside the driver's, and moves of managed memory beside copies.

use warpsmith_driver::raw;
use warpsmith_host::prelude::*;

use crate::compare::{Row, expect};

fn bytes(gpu: &Gpu) -> usize {
    if gpu.is_simulator() {
        1 << 16
    } else {
        256 << 20
    }
}

/// Page-locked memory to the device.
pub fn upload(gpu: &Gpu) -> Result<Row> {
    let stream = gpu.stream()?;
    let host = gpu.pinned::<u8>(bytes(gpu))?;
    let mut device = stream.zeroed::<u8>(host.len())?;
    let plain = Plain::new(host.len(), device.as_device_ptr().address(), &stream);
    Row::measure(
        gpu,
        "copy of 256 MiB of page-locked memory to the device",
        "1 / 0.99",
        1,
        || {
            stream.copy_from_host(&host, &mut device)?;
            stream.synchronize()
        },
        || {
            plain.upload();
            Ok(())
        },
    )
}

/// The device's memory to page-locked memory.
pub fn download(gpu: &Gpu) -> Result<Row> {
    let stream = gpu.stream()?;
    let mut host = gpu.pinned::<u8>(bytes(gpu))?;
    let device = stream.zeroed::<u8>(host.len())?;
    let plain = Plain::new(host.len(), device.as_device_ptr().address(), &stream);
    Row::measure(
        gpu,
        "copy of 256 MiB of device memory to page-locked memory",
        "1 / 0.99",
        1,
        || {
            stream.copy_to_host(&device, &mut host)?;
            stream.synchronize()
        },
        || {
            // SAFETY: both sides have so many bytes, and live until the wait.
            expect(unsafe {
                raw::cuMemcpyDtoHAsync_v2(plain.host, plain.device, plain.bytes, plain.stream)
            });
            plain.wait();
            Ok(())
        },
    )
}

/// Managed memory, which the host has written, to the device, beside a plain copy of as much page-locked memory.
pub fn prefetch(gpu: &Gpu) -> Result<Row> {
    let stream = gpu.stream()?;
    let mut managed = gpu.unified::<u8>(bytes(gpu))?;
    managed.host_mut()?.fill(1);
    let device = stream.zeroed::<u8>(managed.len())?;
    let plain = Plain::new(managed.len(), device.as_device_ptr().address(), &stream);
    let back = gpu.stream()?;
    let (mut there, mut copied) = (Vec::new(), Vec::new());
    let rounds = if gpu.is_simulator() { 1 } else { 15 };
    for round in 0..=rounds {
        back.prefetch(&managed, Location::Host)?;
        gpu.synchronize()?;
        let start = std::time::Instant::now();
        stream.prefetch(&managed, Location::Device)?;
        stream.synchronize()?;
        let moved = start.elapsed();
        let start = std::time::Instant::now();
        plain.upload();
        if round > 0 {
            there.push(moved);
            copied.push(start.elapsed());
        }
    }
    Ok(Row::of(
        "prefetch of 256 MiB of managed memory, beside the copy",
        "1 / 0.9",
        there,
        copied,
    ))
}

/// Page-locked memory by the driver's calls, and device memory of as many bytes.
struct Plain {
    host: *mut std::ffi::c_void,
    device: u64,
    bytes: usize,
    stream: raw::CUstream,
}

impl Plain {
    fn new(bytes: usize, device: u64, stream: &Stream) -> Plain {
        let mut host = std::ptr::null_mut();
        // SAFETY: the driver writes one address to `host`.
        expect(unsafe { raw::cuMemHostAlloc(&mut host, bytes, 0) });
        // SAFETY: the memory has so many bytes.
        unsafe { host.cast::<u8>().write_bytes(1, bytes) };
        Plain {
            host,
            device,
            bytes,
            stream: stream.as_raw().cast(),
        }
    }

    fn upload(&self) {
        // SAFETY: both sides have so many bytes, and live until the wait.
        expect(unsafe {
            raw::cuMemcpyHtoDAsync_v2(self.device, self.host, self.bytes, self.stream)
        });
        self.wait();
    }

    fn wait(&self) {
        // SAFETY: the stream is alive.
        expect(unsafe { raw::cuStreamSynchronize(self.stream) });
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated in `new`, and each copy was waited for.
        expect(unsafe { raw::cuMemFreeHost(self.host) });
    }
}
