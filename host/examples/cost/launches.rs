//! A typed launch beside `cuLaunchKernelEx`.

use std::ptr::null_mut;

use warpsmith_driver::raw;
use warpsmith_host::prelude::*;

use crate::compare::{Row, expect};
use crate::{Nothing, PTX, PlainArguments, heap};

/// Fewer than the driver queues without waiting.
const LAUNCHES: u32 = 500;
/// Launches whose allocations are counted.
pub const COUNTED: u64 = 100;

/// The CPU's time for one launch. Writes how often [`COUNTED`] typed launches allocated memory.
pub fn typed(gpu: &Gpu, allocations: &mut Option<u64>) -> Result<Row> {
    let module = gpu.load(PTX)?;
    let kernel: Nothing = module.untyped_kernel("nothing")?;
    let stream = gpu.stream()?;
    let x = stream.zeroed::<f32>(256)?;
    let mut y = stream.zeroed::<f32>(256)?;
    let slices = [x.as_device_ptr(), y.as_device_ptr()].map(|pointer| pointer.address());
    let launches = if gpu.is_simulator() { 50 } else { LAUNCHES };
    let mut launch = || {
        // SAFETY: the entry does nothing.
        unsafe { stream.launch_untyped(&kernel, Grid::new(1, 32), (2.0, &x, &mut y)) }
    };
    launch()?;
    *allocations = Some(heap::count(|| (0..COUNTED).try_for_each(|_| launch()))?);
    Row::measure(
        gpu,
        "launch of a kernel with two slices",
        "1.03, or 80 ns more",
        launches,
        || (0..launches).try_for_each(|_| launch()),
        || {
            for _ in 0..launches {
                plain(&stream, &kernel, 2.0, slices);
            }
            Ok(())
        },
    )
}

#[inline(never)]
fn plain(stream: &Stream, kernel: &Nothing, a: f32, slices: [u64; 2]) {
    let mut values = PlainArguments::new(a, slices);
    let mut parameters = values.pointers();
    let config = raw::CUlaunchConfig {
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: stream.as_raw().cast(),
        attrs: null_mut(),
        numAttrs: 0,
    };
    let function = kernel.as_raw().cast();
    // SAFETY: the parameters are the entry's and outlive the call; the borrowed stream and kernel are alive.
    expect(unsafe {
        raw::cuLaunchKernelEx(&config, function, parameters.as_mut_ptr(), null_mut())
    });
}
