//! Ways to launch a graph again with another argument, and graphs that have memory.

use warpsmith_host::prelude::*;
use warpsmith_host::{Graph, KernelNode};

use crate::compare::Row;
use crate::{Nothing, PTX};

/// A chain of kernels, of which the last has the argument that changes.
struct Chain {
    kernel: Nothing,
    x: DeviceBuffer<f32>,
    y: DeviceBuffer<f32>,
    nodes: usize,
}

impl Chain {
    fn new(gpu: &Gpu) -> Result<Chain> {
        let stream = gpu.stream()?;
        Ok(Chain {
            kernel: gpu.load(PTX)?.untyped_kernel("nothing")?,
            x: stream.zeroed(256)?,
            y: stream.zeroed(256)?,
            nodes: if gpu.is_simulator() { 5 } else { 200 },
        })
    }

    /// The graph, and its last node.
    fn graph(&mut self, gpu: &Gpu, a: f32) -> Result<(Graph, KernelNode)> {
        let mut graph = gpu.graph()?;
        let mut last = None;
        for node in 1..=self.nodes {
            let a = if node == self.nodes { a } else { 0.0 };
            let arguments = (a, &self.x, &mut self.y);
            // SAFETY: the entry does nothing.
            last =
                Some(unsafe { graph.kernel_untyped(&self.kernel, Grid::new(1, 32), arguments) }?);
        }
        Ok((graph, last.expect("a chain has nodes")))
    }
}

/// One argument of a kernel of 200: by a change of its node, by a new graph that is instantiated.
// covers: GRAPH-58
pub fn of_a_node(gpu: &Gpu) -> Result<Row> {
    let (mut changed, mut anew) = (Chain::new(gpu)?, Chain::new(gpu)?);
    let (graph, node) = changed.graph(gpu, 0.0)?;
    let mut ready = graph.instantiate()?;
    let mut a = 0.0;
    Row::measure(
        gpu,
        format!(
            "one argument in a graph of {} kernels: its node is changed, the graph is made and instantiated anew",
            anew.nodes
        ),
        "1",
        1,
        || {
            a += 1.0;
            let arguments = (a, &changed.x, &mut changed.y);
            // SAFETY: the entry does nothing.
            unsafe { ready.set_kernel_untyped(node, &changed.kernel, Grid::new(1, 32), arguments) }
        },
        || anew.graph(gpu, 1.0)?.0.instantiate().map(drop),
    )
}

/// The same by a new graph that an instantiated one is updated to, and by one that is instantiated.
// covers: GRAPH-58
pub fn of_the_graph(gpu: &Gpu) -> Result<Row> {
    let (mut updated, mut anew) = (Chain::new(gpu)?, Chain::new(gpu)?);
    let mut ready = updated.graph(gpu, 0.0)?.0.instantiate()?;
    let mut a = 0.0;
    Row::measure(
        gpu,
        format!(
            "the same by a new graph of {} kernels: an update to it, its instantiation",
            anew.nodes
        ),
        "1",
        1,
        || {
            a += 1.0;
            ready.update(&updated.graph(gpu, a)?.0)
        },
        || anew.graph(gpu, 1.0)?.0.instantiate().map(drop),
    )
}

/// Launches of a graph that allocates: all in one stream, in two streams in turns, where its memory may be mapped anew.
// covers: GMEM-19
pub fn of_the_stream(gpu: &Gpu) -> Result<Row> {
    let (launches, len) = if gpu.is_simulator() {
        (2, 256)
    } else {
        (50, 16 << 20)
    };
    let streams = [gpu.stream()?, gpu.stream()?];
    let ready = || {
        let mut graph = gpu.graph()?;
        let memory = graph.zeroed::<u8>(len)?;
        drop(memory);
        graph.instantiate()
    };
    let (mut same, mut in_turns) = (ready()?, ready()?);
    let [one, other] = &streams;
    let run = |exec: &mut GraphExec, second: &Stream| {
        for _ in 0..launches / 2 {
            exec.launch(one)?;
            exec.launch(second)?;
        }
        gpu.synchronize()
    };
    Row::measure(
        gpu,
        "a launch of a graph that has 16 MiB of its own: in one stream, in two in turns",
        "(none)",
        launches,
        || run(&mut same, one),
        || run(&mut in_turns, other),
    )
}
