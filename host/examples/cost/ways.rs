//! What graphs and page-locked memory are for: two ways to do the same, both by the library.

use warpsmith_host::prelude::*;

use crate::compare::Row;
use crate::{Nothing, PTX};

const KERNELS: u32 = 20;

/// The CPU's time for a chain of short kernels: a graph, beside launches one by one.
// covers: GRAPH-22
pub fn chain(gpu: &Gpu) -> Result<Row> {
    let chains = if gpu.is_simulator() { 2 } else { 50 };
    let module = gpu.load(PTX)?;
    let kernel: Nothing = module.untyped_kernel("nothing")?;
    let stream = gpu.stream()?;
    let x = stream.zeroed::<f32>(256)?;
    let mut y = stream.zeroed::<f32>(256)?;
    let mut graph = gpu.graph()?;
    for _ in 0..KERNELS {
        // SAFETY: the entry does nothing.
        unsafe { graph.kernel_untyped(&kernel, Grid::new(1, 32), (2.0, &x, &mut y)) }?;
    }
    let mut graph = graph.instantiate()?;
    let mut one_by_one = stream.zeroed::<f32>(256)?;
    Row::measure(
        gpu,
        format!("a kernel of a chain of {KERNELS}: in a graph, launched by itself"),
        "1",
        chains * KERNELS,
        || (0..chains).try_for_each(|_| graph.launch(&stream)),
        || {
            for _ in 0..chains * KERNELS {
                // SAFETY: the entry does nothing.
                unsafe {
                    stream.launch_untyped(&kernel, Grid::new(1, 32), (2.0, &x, &mut one_by_one))
                }?;
            }
            Ok(())
        },
    )
}

/// Copies of page-locked memory in both directions: in two streams at the same time, beside one after the other.
// covers: STREAM-06
pub fn both_directions(gpu: &Gpu) -> Result<Row> {
    let bytes = if gpu.is_simulator() {
        1 << 16
    } else {
        256 << 20
    };
    let engines = gpu.attribute(Attribute::ASYNC_ENGINE_COUNT)?;
    let [up, down] = [gpu.stream()?, gpu.stream()?];
    let source = gpu.pinned::<u8>(bytes)?;
    let mut target = gpu.pinned::<u8>(bytes)?;
    let mut uploaded = up.zeroed::<u8>(bytes)?;
    let downloaded = down.zeroed::<u8>(bytes)?;
    let copy = |target: &mut _, uploaded: &mut _, together: bool| {
        up.copy_from_host(&source, uploaded)?;
        if !together {
            up.synchronize()?;
        }
        down.copy_to_host(&downloaded, target)?;
        down.synchronize()?;
        up.synchronize()
    };
    let (mut other_target, mut other_uploaded) =
        (gpu.pinned::<u8>(bytes)?, up.zeroed::<u8>(bytes)?);
    Row::measure(
        gpu,
        format!(
            "256 MiB in each direction, with {engines} copy engines: together, one after the other"
        ),
        "1",
        1,
        || copy(&mut target, &mut uploaded, true),
        || copy(&mut other_target, &mut other_uploaded, false),
    )
}
