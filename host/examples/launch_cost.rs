//! What a typed launch costs beside a plain `cuLaunchKernelEx` call: `cargo run --release -p warpsmith-host --example launch_cost`.
//!
//! Both launch the same empty kernel with the same three parameters, in rounds that take turns; the medians are compared.

use std::time::{Duration, Instant};

use warpsmith_driver::raw;
use warpsmith_host::prelude::*;

const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing(.param .f32 a, .param .u64 x, .param .u64 nx, .param .u64 y, .param .u64 ny) { ret; }
";

const LAUNCHES: u32 = 500;
const ROUNDS: usize = 41;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let module = gpu.load(PTX)?;
    let kernel = module.untyped_kernel::<(Value<f32>, In<f32>, Out<f32>)>("nothing")?;
    let stream = gpu.stream()?;
    let x = stream.zeroed::<f32>(256)?;
    let mut y = stream.zeroed::<f32>(256)?;
    let launches = if gpu.is_simulator() {
        LAUNCHES / 10
    } else {
        LAUNCHES
    };
    let (mut typed, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        stream.synchronize()?;
        let start = Instant::now();
        for _ in 0..launches {
            // SAFETY: the entry does nothing.
            unsafe { stream.launch_untyped(&kernel, Grid::new(1, 32), (2.0, &x, &mut y))? };
        }
        typed.push(start.elapsed() / launches);

        stream.synchronize()?;
        let start = Instant::now();
        for _ in 0..launches {
            plain_launch(
                &stream,
                &kernel,
                2.0,
                x.as_device_ptr().address(),
                256,
                y.as_device_ptr().address(),
                256,
            );
        }
        plain.push(start.elapsed() / launches);
    }
    stream.synchronize()?;
    let (typed, plain) = (median(typed), median(plain));
    println!(
        "{}: typed launch {typed:?}, plain cuLaunchKernelEx {plain:?}",
        gpu.name()
    );
    println!("ratio {:.3}", typed.as_secs_f64() / plain.as_secs_f64());
    Ok(())
}

#[inline(never)]
fn plain_launch<P>(
    stream: &Stream,
    kernel: &UntypedKernel<P>,
    mut a: f32,
    mut x: u64,
    mut nx: u64,
    mut y: u64,
    mut ny: u64,
) {
    let mut parameters: [*mut core::ffi::c_void; 5] = [
        (&raw mut a).cast(),
        (&raw mut x).cast(),
        (&raw mut nx).cast(),
        (&raw mut y).cast(),
        (&raw mut ny).cast(),
    ];
    let config = raw::CUlaunchConfig {
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: stream.as_raw().cast(),
        attrs: std::ptr::null_mut(),
        numAttrs: 0,
    };
    // SAFETY: the parameters are the entry's and outlive the call.
    let code = unsafe {
        raw::cuLaunchKernelEx(
            &config,
            kernel.as_raw().cast(),
            parameters.as_mut_ptr(),
            std::ptr::null_mut(),
        )
    };
    assert_eq!(code, raw::CUresult::CUDA_SUCCESS);
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
