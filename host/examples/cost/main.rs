//! What the host library costs beside plain calls of the driver that do the same, in one run: `cargo xtask bench host`.
//!
//! Both sides of a row do the same work on the same device, in rounds that take turns, and in which they take turns in going first; the
//! row shows the medians of the rounds and their ratio. On the simulator it shows that everything works, and no more.

mod changes;
mod compare;
mod copies;
mod graphs;
mod heap;
mod launches;
mod overlap;
mod pools;
mod ways;

use std::ffi::c_void;

use compare::Row;
use warpsmith_host::prelude::*;

#[global_allocator]
static HEAP: heap::Counter = heap::Counter;

/// The kernel of launches and graphs: it does nothing with one number and two slices.
const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing(.param .f32 a, .param .u64 x, .param .u64 nx, .param .u64 y, .param .u64 ny) { ret; }
";

/// The kernel's parameters.
type Nothing = UntypedKernel<(Value<f32>, In<f32>, Out<f32>)>;

/// Arguments of the kernel for plain calls: a number, and two slices of 256 elements at these addresses.
struct PlainArguments {
    a: f32,
    x: (u64, u64),
    y: (u64, u64),
}

impl PlainArguments {
    fn new(a: f32, [x, y]: [u64; 2]) -> PlainArguments {
        PlainArguments {
            a,
            x: (x, 256),
            y: (y, 256),
        }
    }

    /// What the driver takes, as long as this lives.
    fn pointers(&mut self) -> [*mut c_void; 5] {
        [
            (&raw mut self.a).cast(),
            (&raw mut self.x.0).cast(),
            (&raw mut self.x.1).cast(),
            (&raw mut self.y.0).cast(),
            (&raw mut self.y.1).cast(),
        ]
    }
}

/// Measures what a row compares.
type Measure<'a> = &'a mut dyn FnMut(&Gpu) -> Result<Row>;

/// Arguments are the names of what is measured (`launch`, `graph`, `allocation`, `upload`, `download`, `prefetch`, `ways`); none means all.
fn main() -> Result<()> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let gpu = Gpu::open_default()?;
    let (name, driver) = (gpu.name(), gpu.driver_version());
    println!("{name}, driver {driver}\n");
    println!("{}", Row::HEAD);
    let mut allocations = None;
    let rows: [(&str, Measure<'_>); 6] = [
        ("launch", &mut |gpu| launches::typed(gpu, &mut allocations)),
        ("graph", &mut graphs::chain),
        ("allocation", &mut pools::allocation),
        ("upload", &mut copies::upload),
        ("download", &mut copies::download),
        ("prefetch", &mut copies::prefetch),
    ];
    for (name, measure) in rows {
        if wanted(name) {
            println!("{}", measure(&gpu)?);
        }
    }
    if let Some(allocations) = allocations {
        let launches = launches::COUNTED;
        println!("\nallocations of host memory by {launches} typed launches: {allocations}");
    }
    if !wanted("ways") {
        return Ok(());
    }
    println!("\n{}", Row::WAYS);
    for measure in [
        ways::chain,
        ways::both_directions,
        overlap::streams,
        overlap::order_of_issue,
        overlap::small_copies,
        changes::of_a_node,
        changes::of_the_graph,
        changes::of_the_stream,
    ] {
        println!("{}", measure(&gpu)?);
    }
    Ok(())
}
