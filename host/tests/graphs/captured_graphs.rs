//! Graphs that are launched in a capture: they become child graphs of what is captured.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{add, add_node, gpu, module, panicking, refusal};
use warpsmith_host::prelude::*;

// covers: GRAPH-11, GRAPH-32
#[test]
fn a_captured_launch_of_a_graph_is_a_child_graph() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (mut stream, mut side) = (gpu.stream()?, gpu.stream()?);
    let (mut a, mut b) = (stream.zeroed::<u32>(8)?, stream.zeroed::<u32>(8)?);
    let calls = Arc::new(AtomicU32::new(0));
    let mut step = {
        let mut step = gpu.graph()?;
        add_node(&mut step, &add, &mut a, 1);
        let counted = calls.clone();
        step.host(move || {
            counted.fetch_add(1, Ordering::SeqCst);
        })?;
        step.instantiate()?
    };
    let graph = stream.capture(|capture| {
        let side = capture.fork(&mut side)?;
        capture.fill(&mut a, 10)?;
        step.launch(capture)?;
        // The other stream comes after by the memory alone.
        step.launch(side)?;
        side.copy(&a, &mut b)
    })?;
    assert_eq!(graph.node_count()?, 4);
    assert_eq!(graph.edges()?.len(), 3, "{:?}", graph.edges()?);
    assert_eq!(stream.download(&a)?, [0; 8], "nothing has run");
    let mut ready = graph.instantiate()?;
    drop((graph, a));
    for launch in 1..=3 {
        ready.launch(&stream)?;
        assert_eq!(stream.download(&b)?, [12; 8]);
        assert_eq!(calls.load(Ordering::SeqCst), 2 * launch);
    }
    // It is a copy: the executable graph goes on by itself, and may go.
    step.launch(&stream)?;
    stream.synchronize()?;
    assert_eq!(calls.load(Ordering::SeqCst), 7);
    drop((step, add, module));
    ready.launch(&stream)?;
    assert_eq!(stream.download(&b)?, [12; 8]);
    Ok(())
}

#[test]
fn a_captured_launch_is_of_the_graph_of_the_last_update() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let mut stream = gpu.stream()?;
    let mut a = stream.zeroed::<u32>(8)?;
    let (mut one, mut two) = (gpu.graph()?, gpu.graph()?);
    let node = add_node(&mut one, &add, &mut a, 1);
    add_node(&mut two, &add, &mut a, 100);
    let mut step = one.instantiate()?;
    step.update(&two)?;
    drop(two);
    let captured =
        |stream: &mut Stream, step: &mut GraphExec| stream.capture(|capture| step.launch(capture));
    captured(&mut stream, &mut step)?
        .instantiate()?
        .launch(&stream)?;
    assert_eq!(stream.download(&a)?, [100; 8]);

    // What is no graph as a whole any more is refused, and says what to do.
    step.set_enabled(node, false)?;
    let text = refusal(captured(&mut stream, &mut step));
    assert!(
        text.contains("is switched off") && text.contains("`capture.child("),
        "{text}"
    );
    step.set_enabled(node, true)?;
    captured(&mut stream, &mut step)?;
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { step.set_kernel_untyped(node, &add, Grid::cover(8, 128), (&mut a, 1000_u32)) }?;
    let text = refusal(captured(&mut stream, &mut step));
    assert!(text.contains("changed by itself"), "{text}");
    step.update(&one)?;
    captured(&mut stream, &mut step)?
        .instantiate()?
        .launch(&stream)?;
    assert_eq!(stream.download(&a)?, [101; 8]);
    add_node(&mut one, &add, &mut a, 5);
    let text = refusal(captured(&mut stream, &mut step));
    assert!(text.contains("were added to that graph"), "{text}");
    let whole = stream.capture(|capture| capture.child(capture.stream(), &one))?;
    whole.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&a)?, [107; 8]);
    // The executable graph is as it was.
    step.launch(&stream)?;
    assert_eq!(stream.download(&a)?, [108; 8]);
    Ok(())
}

#[test]
fn what_no_driver_copies_is_no_child_of_a_capture() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let other = gpu.stream()?;
    let mut result = stream.zeroed::<u32>(4)?;
    let mut allocating = gpu.graph()?;
    let scratch = allocating.filled::<u32>(4, 2)?;
    allocating.copy(&scratch, &mut result)?;
    let mut allocating = allocating.instantiate()?;
    let mut branching = gpu.graph()?;
    let condition = branching.condition(1)?;
    branching.if_then(condition, |body| body.fill(&mut result, 7).map(drop))?;
    let graph = stream.capture(|capture| {
        let text = refusal(allocating.launch(capture));
        assert!(text.contains("allocates memory"), "{text}");
        let text = refusal(capture.child(capture.stream(), &branching));
        assert!(text.contains("loops or branches"), "{text}");
        let text = refusal(capture.child(&other, &branching));
        assert!(text.contains("not part of this capture"), "{text}");
        capture.fill(&mut result, 1)
    })?;
    // That did no harm.
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&result)?, [1; 4]);
    allocating.launch(&stream)?;
    assert_eq!(stream.download(&result)?, [2; 4]);
    Ok(())
}

/// A panic in a child graph that was captured is told by the graph around it, at any depth.
// covers: ERROR-02
#[test]
fn a_child_of_a_capture_tells_of_panics() -> Result<()> {
    let gpu = gpu();
    let kernels = panicking::kernels(&gpu);
    let mut stream = gpu.stream()?;
    let mut line = stream.upload(&[0_u32])?;
    let mut step = gpu.graph()?;
    // SAFETY: the entry reads one word of a slice.
    unsafe { step.kernel_untyped(&kernels.first, Grid::new(2, 32), (&line,)) }?;
    let mut step = step.instantiate()?;
    let inner = stream.capture(|capture| step.launch(capture))?;
    let mut inner = inner.instantiate()?;
    let graph = stream.capture(|capture| {
        inner.launch(capture)?;
        panicking::launch(capture, &kernels.second, &line);
        inner.launch(capture)
    })?;
    let mut ready = graph.instantiate()?;
    ready.launch(&stream)?;
    stream.synchronize()?;
    stream.fill(&mut line, 42)?;
    ready.launch(&stream)?;
    let error = stream.synchronize().unwrap_err();
    assert!(error.to_string().contains("42"), "{error}");
    stream.fill(&mut line, 0)?;
    ready.launch(&stream)?;
    stream.synchronize()
}
