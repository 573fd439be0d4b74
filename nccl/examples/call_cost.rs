//! What a typed collective costs beside NCCL's own call: the second part of `cargo xtask bench host`.
//!
//! One rank alone, so that nobody waits for others: both sides enqueue the same all-reduce in the same stream, in rounds that take turns, and
//! the medians are compared. On the simulator the figures say nothing of GPUs.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use warpsmith_host::prelude::*;
use warpsmith_nccl::{Communicator, Reduction};
use warpsmith_nccl_abi::{ncclDataType_t, ncclRedOp_t, ncclResult_t};

/// Rounds that are counted, on a GPU.
const ROUNDS: usize = 41;

fn main() -> warpsmith_nccl::Result<()> {
    let gpu = Gpu::open_default()?;
    if !gpu.is_simulator()
        && let Err(error) = warpsmith_nccl::version(&gpu)
    {
        println!("not measured: {error}");
        return Ok(());
    }
    let communicator = Communicator::all(std::slice::from_ref(&gpu))?.remove(0);
    let nccl = warpsmith_nccl::functions(&gpu)?;
    let stream = gpu.stream()?;
    let (rounds, calls) = if gpu.is_simulator() {
        (3, 10)
    } else {
        (ROUNDS, 200)
    };
    println!("NCCL {}", warpsmith_nccl::version(&gpu)?);
    println!("| all-reduce of | warpsmith | ncclAllReduce | ratio |\n| --- | --- | --- | --- |");
    for elements in [256_usize, 1 << 20] {
        let send = stream.zeroed::<f32>(elements)?;
        let mut receive = stream.zeroed::<f32>(elements)?;
        let from = send.as_device_ptr().address() as *const c_void;
        let to = receive.as_device_ptr().address() as *mut c_void;
        let mut times = [Vec::new(), Vec::new()];
        // The first round warms up.
        for round in 0..=rounds {
            for side in [round % 2, 1 - round % 2] {
                stream.synchronize()?;
                let start = Instant::now();
                for _ in 0..calls {
                    if side == 0 {
                        communicator.all_reduce(&stream, &send, &mut receive, Reduction::Sum)?;
                    } else {
                        // SAFETY: the buffers have so many elements and are used in this stream alone; the communicator is this thread's.
                        let code = unsafe {
                            (nccl.ncclAllReduce)(
                                from,
                                to,
                                elements,
                                ncclDataType_t::ncclFloat32,
                                ncclRedOp_t::ncclSum,
                                communicator.as_raw(),
                                stream.as_raw(),
                            )
                        };
                        assert_eq!(code, ncclResult_t::ncclSuccess);
                    }
                }
                if round > 0 {
                    times[side].push(start.elapsed() / calls);
                }
            }
        }
        stream.synchronize()?;
        let [ours, plain] = times.map(median);
        println!(
            "| {} bytes | {ours:.2?} | {plain:.2?} | {:.3} |",
            4 * elements,
            ours.as_secs_f64() / plain.as_secs_f64()
        );
    }
    communicator.close()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
