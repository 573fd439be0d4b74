//! Measures the engine: warp instructions a second and core, checks off, on a few kernels in PTX.
//!
//! `cargo run --release -p warpsmith-simulator --example speed`

use std::sync::atomic::AtomicU64;
use std::time::Instant;

#[path = "../tests/support/mod.rs"]
mod support;

use support::{Memory, Nothing};
use warpsmith_simulator::engine::{Checks, DeviceMemory, Environment, Launch, Module, run};

const SAXPY: &str = include_str!("saxpy.ptx");

/// Processor time of this thread in seconds, where the system tells it: other processes do not disturb it.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}

fn main() {
    let module =
        Module::load(SAXPY, &mut |_| None).unwrap_or_else(|error| panic!("saxpy.ptx: {error}"));
    // Both arrays fit the last cache, so that the engine is measured and not the memory.
    let n: u32 = 1 << 20;
    let memory = Memory {
        words: vec![0; n as usize],
        generation: AtomicU64::new(1),
    };
    let base = memory.arena().0;
    let mut params = Vec::new();
    params.extend(2.0f32.to_bits().to_le_bytes());
    params.extend(n.to_le_bytes());
    params.extend(base.to_le_bytes());
    params.extend((base + u64::from(n) * 4).to_le_bytes());
    let environment = |threads, checks| Environment {
        memory: &memory,
        runtime: &Nothing,
        checks,
        seed: 0,
        threads,
        stack_limit: 1024,
        cancel: None,
    };
    for (name, kernel, blocks) in [
        ("saxpy, one element a thread", "saxpy", n / 256),
        ("saxpy, grid-stride loop", "saxpy_loop", 64),
    ] {
        let Some(kernel) = module.kernel(kernel) else {
            panic!("no kernel {kernel}")
        };
        for (mode, threads, checks) in [
            ("1 thread", 1, Checks::NONE),
            ("all cores", 0, Checks::NONE),
            ("1 thread, all checks", 1, Checks::ALL),
        ] {
            let launch = Launch {
                kernel,
                grid: [blocks, 1, 1],
                block: [256, 1, 1],
                cluster: [1; 3],
                dynamic_shared: 0,
                cooperative: false,
                params: &params,
            };
            // The system counts processor time in ticks of some milliseconds: many runs, and their mean.
            const RUNS: u64 = 60;
            let mut count = 0;
            let (start, processor) = (Instant::now(), processor_seconds());
            for _ in 0..RUNS {
                match run(&launch, &environment(threads, checks)) {
                    Ok(statistics) => count += statistics.warp_instructions,
                    Err(fault) => panic!("{fault}"),
                }
            }
            let elapsed = start.elapsed().as_secs_f64();
            let busy = processor
                .zip(processor_seconds())
                .map_or(elapsed, |(before, after)| after - before);
            let seconds = if threads == 1 { busy } else { elapsed };
            let rate = count as f64 / seconds / 1e6;
            let (each, time) = (count / RUNS, seconds * 1e3 / RUNS as f64);
            println!(
                "{name:28} {mode:22} {each:>9} warp instructions  {time:8.2} ms  {rate:7.1} M/s"
            );
        }
    }
}
