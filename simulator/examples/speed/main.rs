//! Measures the engine on a few kernels in PTX: without checks, and what each check costs.
//!
//! `cargo run --release -p warpsmith-simulator --example speed [NAME ...]`, where a name chooses the kernels that contain it.

use std::cell::RefCell;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

#[path = "../../tests/support/mod.rs"]
mod support;

use support::{Memory, Nothing};
use warpsmith_simulator::check::stream_order::{
    Agent, Clock, Line, Others, Piece, Place, Recorder, Shadow,
};
use warpsmith_simulator::engine::{
    Checks, DeviceMemory, Environment, Launch, Module, TouchSink, run,
};

/// Elements of saxpy's vectors: both fit the last cache, so that the engine is measured and not the memory.
const LENGTH: u32 = 1 << 20;
/// The side of the transposed matrix.
const TRANSPOSED: u32 = 1024;
/// The side of the multiplied matrices.
const MULTIPLIED: u32 = 256;

/// Blocks of the exchange, of the products of warps, of the pipeline, of the histogram.
const EXCHANGING: u32 = 256;
const MULTIPLYING: u32 = 64;
const PIPELINES: u32 = 64;
const COUNTING: u32 = 256;

/// Least time spent on each row of the table.
const BUDGET: Duration = Duration::from_millis(3000);
/// Fewest runs of each mode of a row.
const ROUNDS: usize = 5;

/// The checks whose cost is shown, beside none and all.
const MODES: [(&str, Checks); 7] = [
    ("none", Checks::NONE),
    (
        "bounds",
        Checks {
            bounds: true,
            ..Checks::NONE
        },
    ),
    (
        "uninitialised",
        Checks {
            uninitialised: true,
            ..Checks::NONE
        },
    ),
    (
        "races",
        Checks {
            races: true,
            ..Checks::NONE
        },
    ),
    (
        "mbarriers",
        Checks {
            mbarriers: true,
            ..Checks::NONE
        },
    ),
    (
        "stream-order",
        Checks {
            stream_order: true,
            ..Checks::NONE
        },
    ),
    ("all", Checks::ALL),
];

/// What the driver does with what a grid touches, as if all launches were in one stream.
#[derive(Default)]
struct Order {
    recorder: Mutex<Recorder>,
}

impl TouchSink for Order {
    fn touched(&self, _: bool, touches: &Recorder) {
        self.recorder.lock().unwrap().merge(touches);
    }

    fn spoken(&self) {}

    fn aliases_fenced(&self) {}

    fn begins_early(&self) -> bool {
        false
    }
}

impl Order {
    /// The launch of this number has ended.
    fn end(self, shadow: &mut Shadow, line: &Arc<Line>, number: u64) {
        let place = Place::of_item(line, number, number - 1, &Clock::new(), number);
        let touched = self.recorder.into_inner().unwrap().finish();
        let host = Arc::default();
        let (what, at) = ("kernel".to_owned(), "stream".to_owned());
        let piece = Piece::new(what, at, place, Agent::default(), host).with_words(&touched);
        let found = shadow.end(&Arc::new(piece), &touched, Others::default(), |_| false);
        assert!(found.is_none(), "all launches are in one stream");
    }
}

/// A kernel with its launch.
struct Case {
    /// What the table calls it.
    name: &'static str,
    ptx: &'static str,
    kernel: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    /// Blocks of a cluster.
    cluster: u32,
    /// The parameters, given the address of the memory.
    parameters: fn(u64) -> Vec<u8>,
    /// Whether the memory holds the right result after any number of runs; none where each run goes on from the last.
    is_right: Option<fn(&[f32]) -> bool>,
}

const CASES: [Case; 9] = [
    Case {
        name: "saxpy, one element a thread",
        ptx: include_str!("saxpy.ptx"),
        kernel: "saxpy",
        grid: [LENGTH / 256, 1, 1],
        block: [256, 1, 1],
        cluster: 1,
        parameters: saxpy,
        is_right: None,
    },
    Case {
        name: "saxpy, grid-stride loop",
        ptx: include_str!("saxpy.ptx"),
        kernel: "saxpy_loop",
        grid: [64, 1, 1],
        block: [256, 1, 1],
        cluster: 1,
        parameters: saxpy,
        is_right: None,
    },
    Case {
        name: "transpose, padded tile",
        ptx: include_str!("transpose.ptx"),
        kernel: "transpose",
        grid: [TRANSPOSED / 32, TRANSPOSED / 32, 1],
        block: [32, 8, 1],
        cluster: 1,
        parameters: |base| parameters(&[TRANSPOSED], &matrices(base, TRANSPOSED)[..2]),
        is_right: Some(|memory| {
            let n = TRANSPOSED as usize;
            (0..n * n).all(|i| memory[n * n + i] == memory[i % n * n + i / n])
        }),
    },
    Case {
        name: "matmul, 16 x 16 tiles",
        ptx: include_str!("matmul.ptx"),
        kernel: "matmul16",
        grid: [MULTIPLIED / 16, MULTIPLIED / 16, 1],
        block: [16, 16, 1],
        cluster: 1,
        parameters: |base| parameters(&[MULTIPLIED], &matrices(base, MULTIPLIED)),
        is_right: Some(is_product),
    },
    Case {
        name: "matmul, 32 x 32 tiles",
        ptx: include_str!("matmul.ptx"),
        kernel: "matmul32",
        grid: [MULTIPLIED / 32, MULTIPLIED / 32, 1],
        block: [32, 32, 1],
        cluster: 1,
        parameters: |base| parameters(&[MULTIPLIED], &matrices(base, MULTIPLIED)),
        is_right: Some(is_product),
    },
    Case {
        name: "exchange in a warp",
        ptx: include_str!("warp_exchange.ptx"),
        kernel: "warp_exchange",
        grid: [EXCHANGING, 1, 1],
        block: [256, 1, 1],
        cluster: 1,
        parameters: in_and_out,
        is_right: Some(|memory| {
            let count = EXCHANGING as usize * 256;
            (0..count).all(|at| {
                let warp = &memory[at / 32 * 32..][..32];
                memory[LENGTH as usize + at] == warp.iter().sum::<f32>()
            })
        }),
    },
    Case {
        name: "mma, m16n8k16 of f16",
        ptx: include_str!("tensor_cores.ptx"),
        kernel: "tensor_cores",
        grid: [MULTIPLYING, 1, 1],
        block: [128, 1, 1],
        cluster: 1,
        parameters: in_and_out,
        is_right: Some(|memory| {
            (0..MULTIPLYING as usize * 4).all(|warp| {
                let (a, b) = memory[warp * 384..][..384].split_at(256);
                let d = &memory[LENGTH as usize + warp * 128..][..128];
                d.iter().enumerate().all(|(at, &d)| {
                    let (row, column) = (&a[at / 8 * 16..][..16], &b[at % 8 * 16..][..16]);
                    let product: f32 = row.iter().zip(column).map(|(a, b)| a * b).sum();
                    d == 16.0 * product
                })
            })
        }),
    },
    Case {
        name: "cp.async, mbarriers",
        ptx: include_str!("pipeline.ptx"),
        kernel: "pipeline",
        grid: [PIPELINES, 1, 1],
        block: [128, 1, 1],
        cluster: 1,
        parameters: in_and_out,
        is_right: Some(|memory| {
            let count = PIPELINES as usize * 512;
            (0..count).all(|at| {
                let (block, copied) = (at / 512, (at % 512 + 128) % 512);
                let sum = (0..32).map(|round| memory[(block * 32 + round) * 512 + copied]);
                memory[LENGTH as usize + at] == sum.sum::<f32>()
            })
        }),
    },
    Case {
        name: "histogram in a cluster",
        ptx: include_str!("cluster.ptx"),
        kernel: "cluster_histogram",
        grid: [COUNTING, 1, 1],
        block: [256, 1, 1],
        cluster: 2,
        parameters: in_and_out,
        is_right: Some(|memory| {
            (0..COUNTING as usize / 2).all(|cluster| {
                let mut counters = [0; 256];
                let words = &memory[cluster * 4096..][..4096];
                let bytes = words.iter().flat_map(|word| word.to_bits().to_le_bytes());
                bytes.for_each(|byte| counters[usize::from(byte)] += 1);
                let counted = &memory[LENGTH as usize + cluster * 256..][..256];
                counted
                    .iter()
                    .zip(counters)
                    .all(|(word, count)| word.to_bits() == count)
            })
        }),
    },
];

/// Two halves of the memory.
fn in_and_out(base: u64) -> Vec<u8> {
    parameters(&[], &[base, base + u64::from(LENGTH) * 4])
}

fn saxpy(base: u64) -> Vec<u8> {
    let vectors = [base, base + u64::from(LENGTH) * 4];
    parameters(&[2.0f32.to_bits(), LENGTH], &vectors)
}

/// Numbers and the addresses that follow them, as a kernel's parameters lie.
fn parameters(numbers: &[u32], addresses: &[u64]) -> Vec<u8> {
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.extend(addresses.iter().flat_map(|address| address.to_le_bytes()));
    bytes
}

/// Three matrices, one after the other.
fn matrices(base: u64, n: u32) -> [u64; 3] {
    std::array::from_fn(|index| base + index as u64 * u64::from(n * n) * 4)
}

fn is_product(memory: &[f32]) -> bool {
    let n = MULTIPLIED as usize;
    let (a, b, c) = (memory, &memory[n * n..], &memory[2 * n * n..]);
    (0..n * n).all(|at| {
        let (row, column) = (at / n, at % n);
        let sum = (0..n).fold(0.0f32, |sum, k| {
            a[row * n + k].mul_add(b[k * n + column], sum)
        });
        sum == c[at]
    })
}

/// Processor time of this thread: other processes do not disturb it.
fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Runs once; gives the warp instructions and the time: this thread's, or the wall clock's where there are more.
fn once(launch: &Launch<'_>, memory: &Memory, threads: usize, checks: Checks) -> (u64, f64) {
    thread_local! {
        static ORDER: RefCell<(Shadow, Arc<Line>, u64)> = RefCell::new((Shadow::default(), Line::new(), 0));
    }
    let order = checks.stream_order.then(Order::default);
    let environment = Environment {
        checks,
        threads,
        touches: order.as_ref().map(|order| order as &dyn TouchSink),
        ..Environment::new(memory, &Nothing)
    };
    let (start, processor) = (Instant::now(), processor_time());
    let statistics = run(launch, &environment).unwrap_or_else(|fault| panic!("{fault}"));
    if let Some(order) = order {
        ORDER.with_borrow_mut(|(shadow, line, launches)| {
            *launches += 1;
            order.end(shadow, line, *launches);
        });
    }
    let (elapsed, busy) = (start.elapsed(), processor_time() - processor);
    let time = if threads == 1 { busy } else { elapsed };
    (statistics.warp_instructions, time.as_secs_f64())
}

fn measure(case: &Case) {
    let module = Module::load(case.ptx, &mut |_| None)
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let Some(kernel) = module.kernel(case.kernel) else {
        panic!("no kernel {}", case.kernel)
    };
    // Small whole numbers: their sums of products are exact.
    let value = |index: u32| ((index.wrapping_mul(2_654_435_761) >> 24) as f32).to_bits();
    let words = (0..LENGTH)
        .map(|i| u64::from(value(2 * i)) | u64::from(value(2 * i + 1)) << 32)
        .collect();
    let memory = Memory {
        words,
        generation: AtomicU64::new(1),
    };
    let params = (case.parameters)(memory.arena().0);
    let launch = Launch {
        kernel,
        grid: case.grid,
        block: case.block,
        cluster: [case.cluster, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        params: &params,
    };
    let mut best = [f64::INFINITY; MODES.len()];
    let (mut all_cores, mut count, mut rounds) = (f64::INFINITY, 0, 0);
    let start = Instant::now();
    // Round by round, so that a disturbance of the machine meets all modes.
    while rounds < ROUNDS || start.elapsed() < BUDGET {
        for (best, (_, checks)) in best.iter_mut().zip(MODES) {
            let (instructions, time) = once(&launch, &memory, 1, checks);
            *best = best.min(time);
            count = instructions;
        }
        all_cores = all_cores.min(once(&launch, &memory, 0, Checks::NONE).1);
        rounds += 1;
    }
    let floats: Vec<f32> = memory
        .words
        .iter()
        .flat_map(|&word| [word as u32, (word >> 32) as u32])
        .map(f32::from_bits)
        .collect();
    if let Some(is_right) = case.is_right {
        assert!(is_right(&floats), "{}: wrong result", case.name);
    }
    print!(
        "{:28} {count:>9} {:>8.2} {:>8.1} {:>8.1}",
        case.name,
        best[0] * 1e3,
        count as f64 / best[0] / 1e6,
        count as f64 / all_cores / 1e6,
    );
    for ((name, _), time) in MODES.iter().zip(best).skip(1) {
        print!(" {:>1$.2}", time / best[0], name.len().max(8));
    }
    println!();
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "The best of several runs. Instructions are a warp's; ms and M/s without checks on one thread, then M/s on all cores;"
    );
    println!("then the time with only this check on, over the time without checks.");
    print!(
        "{:28} {:>9} {:>8} {:>8} {:>8}",
        "", "count", "ms", "M/s", "M/s, all"
    );
    for (name, _) in &MODES[1..] {
        print!(" {name:>8}");
    }
    println!();
    for case in &CASES {
        if names.is_empty() || names.iter().any(|name| case.name.contains(name.as_str())) {
            measure(case);
        }
    }
}
