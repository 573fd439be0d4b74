//! A tracer: counts the instructions that a kernel executes for each line of its source, and the lanes that were idle there.
//! `cargo run -p warpsmith-host --example trace_lines`; on the simulator only.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use warpsmith_host::observe::{At, LaunchEvent, Observer};
use warpsmith_host::prelude::*;

/// The sum of each 32 numbers, as a compiler would translate it, with the lines of its source.
const PTX: &str = r#"
.version 7.8
.target sm_90
.address_size 64
.file 1 "sum.rs"
.visible .entry sum(.param .u64 x, .param .u64 nx, .param .u64 y, .param .u64 ny)
{
    .reg .pred %p<3>; .reg .b32 %r<8>; .reg .f32 %f<3>; .reg .b64 %rd<5>;
    .loc 1 3 9
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    .loc 1 4 20
    mad.lo.u32 %r3, %r2, 32, %r1;
    mul.wide.u32 %rd3, %r3, 4;
    add.u64 %rd3, %rd1, %rd3;
    ld.global.f32 %f1, [%rd3];
    mov.u32 %r4, 16;
AGAIN:
    .loc 1 6 17
    shfl.sync.down.b32 %f2, %f1, %r4, 31, -1;
    add.f32 %f1, %f1, %f2;
    .loc 1 5 11
    shr.u32 %r4, %r4, 1;
    setp.ne.u32 %p1, %r4, 0;
    @%p1 bra AGAIN;
    .loc 1 8 8
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra DONE;
    .loc 1 9 9
    mul.wide.u32 %rd4, %r2, 4;
    add.u64 %rd4, %rd2, %rd4;
    st.global.f32 [%rd4], %f1;
DONE:
    .loc 1 11 1
    ret;
}
"#;

/// What a line has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LineCost {
    /// Instructions of warps.
    instructions: u64,
    /// Lanes that executed them.
    lanes: u64,
}

/// An instruction of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Instruction {
    launch: u64,
    function: u32,
    number: u32,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    file: String,
    line: u32,
}

/// Counts. An instruction's line is looked up when it is met for the first time: that is slower than counting.
#[derive(Default)]
struct LineTracer(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    lines: HashMap<Instruction, Line>,
    costs: BTreeMap<Line, LineCost>,
}

impl LineTracer {
    /// The lines in their order, with what each has cost.
    fn costs(&self) -> Vec<(Line, LineCost)> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.costs.clone().into_iter().collect()
    }
}

impl Observer for LineTracer {
    fn launch(&self, launch: &LaunchEvent<'_>) {
        println!(
            "{}: grid {:?}, block {:?}",
            launch.kernel, launch.grid, launch.block
        );
    }

    fn step(&self, at: &At<'_>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Counts { lines, costs } = &mut *counts;
        let instruction = Instruction {
            launch: at.launch,
            function: at.function,
            number: at.instruction,
        };
        let line = lines.entry(instruction).or_insert_with(|| {
            let location = at.frame().location.unwrap_or_default();
            Line {
                file: location.file,
                line: location.line,
            }
        });
        let cost = costs.entry(line.clone()).or_default();
        cost.instructions += 1;
        cost.lanes += u64::from(at.lanes.count_ones());
    }
}

fn main() -> Result<()> {
    const BLOCKS: u32 = 100;
    let gpu = Gpu::open(DeviceChoice::Simulator)?;
    let sum = gpu
        .load(PTX)?
        .untyped_kernel::<(In<f32>, Out<f32>)>("sum")?;
    let stream = gpu.stream()?;
    let x = stream.filled(32 * BLOCKS as usize, 0.5_f32)?;
    let mut y = stream.zeroed::<f32>(BLOCKS as usize)?;

    let tracer = Arc::new(LineTracer::default());
    let registration = gpu.observe(tracer.clone())?;
    // SAFETY: the entry takes two slices, and its blocks write one element each of the second.
    unsafe { stream.launch_untyped(&sum, Grid::new(BLOCKS, 32), (&x, &mut y)) }?;
    stream.synchronize()?;
    drop(registration);
    assert_eq!(stream.download(&y)?, [16.0; BLOCKS as usize]);

    let costs = tracer.costs();
    println!("{:>13} {:>6}  line", "instructions", "lanes");
    for (line, cost) in &costs {
        let lanes = cost.lanes as f64 / cost.instructions as f64;
        println!(
            "{:>13} {lanes:>6.1}  {}:{}",
            cost.instructions, line.file, line.line
        );
    }

    // Each of the 100 warps goes round the loop five times, and one lane of it stores the sum.
    let of_line = |number| {
        let found = costs.iter().find(|(line, _)| line.line == number);
        found.map(|(_, cost)| *cost)
    };
    let warps = u64::from(BLOCKS);
    let expected = |instructions, lanes| {
        Some(LineCost {
            instructions: warps * instructions,
            lanes: warps * instructions * lanes,
        })
    };
    assert_eq!(of_line(6), expected(2 * 5, 32));
    assert_eq!(of_line(9), expected(3, 1));
    Ok(())
}
