//! A graph of the library beside one of the driver's calls.

use std::ptr::{null, null_mut};

use warpsmith_driver::raw;
use warpsmith_host::prelude::*;

use crate::compare::{Row, expect};
use crate::{Nothing, PTX, PlainArguments};

/// Launch and end of a graph whose kernels come one after the other.
pub fn chain(gpu: &Gpu) -> Result<Row> {
    let nodes = if gpu.is_simulator() { 10 } else { 1000 };
    let module = gpu.load(PTX)?;
    let kernel: Nothing = module.untyped_kernel("nothing")?;
    let stream = gpu.stream()?;
    let x = stream.zeroed::<f32>(256)?;
    let mut y = stream.zeroed::<f32>(256)?;
    let mut graph = gpu.graph()?;
    for _ in 0..nodes {
        // SAFETY: the entry does nothing.
        unsafe { graph.kernel_untyped(&kernel, Grid::new(1, 32), (2.0, &x, &mut y)) }?;
    }
    let mut ours = graph.instantiate()?;
    let plain = plain(
        &kernel,
        nodes,
        [&x, &y].map(|slice| slice.as_device_ptr().address()),
    );
    let raw_stream: raw::CUstream = stream.as_raw().cast();
    let row = Row::measure(
        gpu,
        format!("launch and end of a graph of {nodes} kernels"),
        "1.02",
        1,
        || {
            ours.launch(&stream)?;
            stream.synchronize()
        },
        || {
            // SAFETY: the graph and the stream are alive.
            expect(unsafe { raw::cuGraphLaunch(plain, raw_stream) });
            // SAFETY: the stream is alive.
            expect(unsafe { raw::cuStreamSynchronize(raw_stream) });
            Ok(())
        },
    )?;
    // SAFETY: the graph was made below, and its launches are done.
    expect(unsafe { raw::cuGraphExecDestroy(plain) });
    Ok(row)
}

/// The same graph by the driver's calls.
fn plain(kernel: &Nothing, nodes: u32, slices: [u64; 2]) -> raw::CUgraphExec {
    let mut arguments = PlainArguments::new(2.0, slices);
    let mut values = arguments.pointers();
    let parameters = raw::CUDA_KERNEL_NODE_PARAMS {
        func: kernel.as_raw().cast(),
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: values.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    };
    let (mut graph, mut exec) = (null_mut(), null_mut());
    // SAFETY: the driver writes one handle to `graph`.
    expect(unsafe { raw::cuGraphCreate(&mut graph, 0) });
    let mut last: Option<raw::CUgraphNode> = None;
    for _ in 0..nodes {
        let mut node = null_mut();
        let before = last.as_ref().map_or(null(), |last| &raw const *last);
        // SAFETY: the graph is alive, `before` is null or one node of it, and the driver copies the parameters, which are the entry's.
        expect(unsafe {
            raw::cuGraphAddKernelNode_v2(
                &mut node,
                graph,
                before,
                usize::from(last.is_some()),
                &parameters,
            )
        });
        last = Some(node);
    }
    // SAFETY: the driver writes one handle to `exec`; the graph is alive.
    expect(unsafe { raw::cuGraphInstantiateWithFlags(&mut exec, graph, 0) });
    // SAFETY: the graph was made above; what was instantiated has its own copy.
    expect(unsafe { raw::cuGraphDestroy(graph) });
    exec
}
