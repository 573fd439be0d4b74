//! Bodies of loops and branches: what is refused when they are built, what an error leaves behind, and how they are changed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{add, add_node, gpu, module, refusal};
use warpsmith_host::prelude::*;
use warpsmith_host::{GraphBuilder, KernelNode, Node};

type CountDown = UntypedKernel<(Out<u32>, Value<u64>)>;

fn count_down(module: &Module) -> CountDown {
    module.untyped_kernel("count_down").expect("count_down")
}

/// Adds a kernel that counts a word down and sets the condition to it.
fn count_node(
    graph: &mut GraphBuilder,
    kernel: &CountDown,
    left: &mut DeviceBuffer<u32>,
    condition: warpsmith_host::Condition,
) -> KernelNode {
    // SAFETY: the entry writes one word and sets the condition.
    unsafe { graph.kernel_untyped(kernel, Grid::new(1, 1), (left, condition)) }.expect("a node")
}

/// The node that the graph has one of.
fn only_node(graph: &Graph) -> Result<Node> {
    Ok(graph.nodes()?[0])
}

/// Nothing can be made of the graph any more, and each attempt names the node and the reason.
fn is_refused(gpu: &Gpu, graph: &Graph, node: Node, why: &str) -> Result<()> {
    let mut others = gpu.graph()?;
    let mut stream = gpu.stream()?;
    let mut ready = gpu.graph()?.instantiate()?;
    for text in [
        refusal(graph.instantiate()),
        refusal(graph.try_clone()),
        refusal(others.child(graph)),
        refusal(ready.update(graph)),
        refusal(stream.capture(|capture| capture.child(capture.stream(), graph))),
    ] {
        assert!(text.contains(&format!("{node:?}")), "{text}");
        assert!(
            text.contains(why) && text.contains("build the graph anew"),
            "{text}"
        );
    }
    Ok(())
}

// covers: COND-06
#[test]
fn a_loop_that_nothing_can_end_is_refused() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let (add, kernel) = (add(&module), count_down(&module));
    let stream = gpu.stream()?;
    let (mut a, mut left) = (stream.zeroed::<u32>(4)?, stream.zeroed::<u32>(1)?);
    for start in [0, 1] {
        let mut graph = gpu.graph()?;
        let again = graph.condition(start)?;
        let text = refusal(graph.while_loop(again, |body| {
            add_node(body, &add, &mut a, 1);
            Ok(())
        }));
        assert!(
            text.contains("would never end") && text.contains("Condition::set"),
            "{text}"
        );
        is_refused(
            &gpu,
            &graph,
            only_node(&graph)?,
            "passed the condition to no kernel",
        )?;
    }
    // A kernel beside the loop or before it ends nothing, nor does one that gets another condition.
    let mut graph = gpu.graph()?;
    let (again, other) = (graph.condition(1)?, graph.condition(1)?);
    count_node(&mut graph, &kernel, &mut left, again);
    let text = refusal(graph.while_loop(again, |body| {
        count_node(body, &kernel, &mut left, other);
        Ok(())
    }));
    assert!(text.contains("would never end"), "{text}");
    Ok(())
}

/// A kernel in a branch of the body, and one in a child graph there, end a loop.
// covers: COND-06, COND-07
#[test]
fn a_loop_is_ended_from_deeper_inside() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let (add, kernel) = (add(&module), count_down(&module));
    let stream = gpu.stream()?;
    let mut left = stream.zeroed::<u32>(1)?;
    for in_child in [false, true] {
        let mut passes = stream.zeroed::<u32>(4)?;
        stream.fill(&mut left, 5)?;
        let mut graph = gpu.graph()?;
        let again = graph.condition(1)?;
        graph.while_loop(again, |body| {
            add_node(body, &add, &mut passes, 1);
            if in_child {
                let mut step = gpu.graph()?;
                count_node(&mut step, &kernel, &mut left, again);
                return body.child(&step).map(drop);
            }
            let always = body.condition(1)?;
            body.if_then(always, |inner| {
                count_node(inner, &kernel, &mut left, again);
                Ok(())
            })?;
            Ok(())
        })?;
        graph.instantiate()?.launch(&stream)?;
        assert_eq!(
            stream.download(&passes)?,
            [5; 4],
            "in a child graph: {in_child}"
        );
    }
    Ok(())
}

#[test]
fn a_body_whose_closure_fails_leaves_a_graph_that_is_refused_by_name() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let (add, kernel) = (add(&module), count_down(&module));
    let stream = gpu.stream()?;
    let (mut a, mut left) = (stream.zeroed::<u32>(4)?, stream.zeroed::<u32>(1)?);
    // In the first body or a later one.
    for failing in 0..2 {
        let mut graph = gpu.graph()?;
        let which = graph.condition(0)?;
        let refused = graph.if_else(which, |is_first, body| {
            add_node(body, &add, &mut a, 1);
            match is_first == (failing == 0) {
                true => body.host(|| ()).map(drop),
                false => Ok(()),
            }
        });
        assert!(refusal(refused).contains("cannot hold a host function"));
        assert_eq!(graph.node_count()?, 1);
        is_refused(
            &gpu,
            &graph,
            only_node(&graph)?,
            "a branch whose body is not whole",
        )?;
        // Later nodes are added all the same, and mend nothing.
        graph.fill(&mut a, 1)?;
        assert!(refusal(graph.instantiate()).contains("a branch whose body is not whole"));
    }
    // A panic goes on, and leaves the same.
    let mut graph = gpu.graph()?;
    let which = graph.condition(0)?;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        graph.switch(which, 3, |number, _| match number {
            1 => panic!("in the middle"),
            _ => Ok(()),
        })
    }));
    assert!(panicked.is_err());
    is_refused(
        &gpu,
        &graph,
        only_node(&graph)?,
        "a choice whose bodies are not whole",
    )?;
    // An error inside that the closure around it swallows.
    let mut graph = gpu.graph()?;
    let again = graph.condition(1)?;
    let mut inside = None;
    graph.while_loop(again, |body| {
        count_node(body, &kernel, &mut left, again);
        let condition = body.condition(1)?;
        let refused = body.if_then(condition, |inner| inner.host(|| ()).map(drop));
        inside = refused.err();
        Ok(())
    })?;
    assert!(inside.is_some());
    let text = refusal(graph.instantiate());
    assert!(text.contains("a branch whose body is not whole"), "{text}");
    // What was refused before a node was made has left nothing.
    let mut graph = gpu.graph()?;
    let condition = graph.condition(1)?;
    assert!(graph.switch(condition, 0, |_, _| Ok(())).is_err());
    graph.if_then(condition, |body| body.fill(&mut a, 9).map(drop))?;
    assert!(graph.if_then(condition, |_| Ok(())).is_err());
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&a)?, [9; 4]);
    Ok(())
}

// covers: GRAPH-50, GRAPH-51, GRAPH-53, GRAPH-56
#[test]
fn nodes_inside_of_others_are_changed_with_what_they_are_in() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut a = stream.zeroed::<u32>(4)?;
    /// A branch whose body has a kernel and a child graph, and a child graph beside it.
    struct Built {
        graph: Graph,
        in_body: KernelNode,
        in_child: KernelNode,
        child: warpsmith_host::ChildNode,
        child_in_body: warpsmith_host::ChildNode,
    }
    let build = |a: &mut DeviceBuffer<u32>, value: u32| -> Result<Built> {
        let mut step = gpu.graph()?;
        let in_child = add_node(&mut step, &add, a, value * 100);
        let mut graph = gpu.graph()?;
        let child = graph.child(&step)?;
        let condition = graph.condition(1)?;
        let (mut in_body, mut child_in_body) = (None, None);
        graph.if_then(condition, |body| {
            in_body = Some(add_node(body, &add, a, value));
            child_in_body = Some(body.child(&step)?);
            Ok(())
        })?;
        let (in_body, child_in_body) = (in_body.expect("a node"), child_in_body.expect("a node"));
        Ok(Built {
            graph,
            in_body,
            in_child,
            child,
            child_in_body,
        })
    };
    let built = build(&mut a, 1)?;
    let mut ready = built.graph.instantiate()?;
    let grid = Grid::cover(4, 128);
    for (node, why, way_out) in [
        (
            built.in_body,
            "stands in a body of",
            "`update` with a graph",
        ),
        (
            built.in_child,
            "stands in the child graph of",
            "`set_child`",
        ),
    ] {
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        let refused = unsafe { ready.set_kernel_untyped(node, &add, grid, (&mut a, 5_u32)) };
        let text = refusal(refused);
        assert!(text.contains(why) && text.contains(way_out), "{text}");
        assert!(refusal(ready.set_enabled(node, false)).contains(why));
    }
    let mut other = gpu.graph()?;
    add_node(&mut other, &add, &mut a, 7000);
    let text = refusal(ready.set_child(built.child_in_body, &other));
    assert!(text.contains("stands in a body of"), "{text}");
    // What a driver does: the child graph, and the whole with its bodies.
    ready.set_child(built.child, &other)?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&a)?, [7101; 4]);
    ready.update(&build(&mut a, 2)?.graph)?;
    stream.fill(&mut a, 0)?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&a)?, [402; 4]);
    Ok(())
}
