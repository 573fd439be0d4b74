//! What building a graph refuses, changes of what is ready refuse too: conditions, devices, clusters.

use crate::common::two::with_two;
use crate::common::{Add, add, add_node, gpu, module, refusal};
use warpsmith_device::launch::ConditionHandle;
use warpsmith_host::prelude::*;
use warpsmith_host::{Code, Condition, FlagOperations, GraphBuilder, KernelNode};

type Sets = UntypedKernel<(Out<u32>, ConditionHandle)>;

fn sets(module: &Module, name: &str) -> Sets {
    module.untyped_kernel(name).expect("the entry")
}

/// Adds a kernel that uses one word, and sets the condition.
fn set_node(
    graph: &mut GraphBuilder,
    kernel: &Sets,
    word: &mut DeviceBuffer<u32>,
    condition: Condition,
) -> KernelNode {
    // SAFETY: the entry writes one word at most, and sets the condition.
    unsafe { graph.kernel_untyped(kernel, Grid::new(1, 1), (word, condition)) }.expect("a node")
}

/// Two loops one after the other, of which each counts a word down from what is in it, and adds 1 to `passes` each time. `order`: which of the two
/// conditions the first loop has.
fn two_loops(
    gpu: &Gpu,
    module: &Module,
    order: [usize; 2],
    (left, passes): (&mut [DeviceBuffer<u32>; 2], &mut DeviceBuffer<u32>),
) -> Result<Graph> {
    let (add, count_down) = (add(module), sets(module, "count_down"));
    let mut graph = gpu.graph()?;
    let conditions = [graph.condition(1)?, graph.condition(1)?];
    for (number, left) in left.iter_mut().enumerate() {
        let again = conditions[order[number]];
        graph.while_loop(again, |body| {
            add_node(body, &add, passes, 1);
            set_node(body, &count_down, left, again);
            Ok(())
        })?;
    }
    Ok(graph)
}

// covers: GRAPH-50, COND-06
#[test]
fn an_update_keeps_the_order_of_conditions() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let mut passes = stream.zeroed::<u32>(1)?;
    let mut left = [stream.zeroed::<u32>(1)?, stream.zeroed::<u32>(1)?];
    let straight = two_loops(&gpu, &module, [0, 1], (&mut left, &mut passes))?;
    let crossed = two_loops(&gpu, &module, [1, 0], (&mut left, &mut passes))?;
    let again = two_loops(&gpu, &module, [0, 1], (&mut left, &mut passes))?;
    let mut ready = straight.instantiate()?;
    let text = refusal(ready.update(&crossed));
    assert!(
        text.contains("conditions were made, or given to nodes, in another order"),
        "{text}"
    );
    let mut run = |ready: &mut GraphExec| -> Result<()> {
        stream.fill(&mut left[0], 3)?;
        stream.fill(&mut left[1], 4)?;
        stream.fill(&mut passes, 0)?;
        ready.launch(&stream)?;
        assert_eq!(stream.download(&passes)?, [7]);
        Ok(())
    };
    run(&mut ready)?;
    ready.update(&again)?;
    run(&mut ready)?;
    ready.update_or_reinstantiate(&crossed)?;
    run(&mut ready)
}

/// A graph with a condition that no node uses cannot be made ready, and what is ready does not become one.
// covers: GRAPH-50, COND-01
#[test]
fn an_update_brings_no_unused_condition() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut word = stream.zeroed::<u32>(1)?;
    let mut build = |unused_inside: Option<bool>| -> Result<Graph> {
        let mut graph = gpu.graph()?;
        let condition = graph.condition(1)?;
        if unused_inside == Some(false) {
            graph.condition(1)?;
        }
        graph.if_then(condition, |body| {
            add_node(body, &add, &mut word, 1);
            if unused_inside == Some(true) {
                body.condition(1)?;
            }
            Ok(())
        })?;
        Ok(graph)
    };
    let mut ready = build(None)?.instantiate()?;
    for inside in [false, true] {
        let unused = build(Some(inside))?;
        assert!(unused.instantiate().is_err());
        let text = refusal(ready.update(&unused));
        assert!(text.contains("used by no node"), "{text}");
        assert!(ready.update_or_reinstantiate(&unused).is_err());
    }
    ready.launch(&stream)?;
    assert_eq!(stream.download(&word)?, [1]);
    Ok(())
}

// covers: GRAPH-53, COND-03
#[test]
fn after_an_update_kernels_set_the_new_graphs_conditions() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let (add, decide) = (add(&module), sets(&module, "decide"));
    let stream = gpu.stream()?;
    let (mut value, mut done) = (stream.filled(1, 1_u32)?, stream.zeroed::<u32>(1)?);
    let mut build = |value: &mut DeviceBuffer<u32>| -> Result<(Graph, KernelNode, Condition)> {
        let mut graph = gpu.graph()?;
        let condition = graph.condition(0)?;
        let node = set_node(&mut graph, &decide, value, condition);
        let branch = graph.if_then(condition, |body| {
            add_node(body, &add, &mut done, 1);
            Ok(())
        })?;
        graph.depend(node, branch)?;
        Ok((graph, node, condition))
    };
    let (first, node, of_first) = build(&mut value)?;
    let (second, _, of_second) = build(&mut value)?;
    let grid = Grid::new(1, 1);
    let mut ready = first.instantiate()?;
    // SAFETY: the entry reads one word and sets the condition.
    let mut set = |ready: &mut GraphExec, condition| unsafe {
        ready.set_kernel_untyped(node, &decide, grid, (&mut value, condition))
    };
    let text = refusal(set(&mut ready, of_second));
    assert!(text.contains("that condition's graph"), "{text}");
    set(&mut ready, of_first)?;
    ready.launch(&stream)?;
    ready.update(&second)?;
    ready.launch(&stream)?;
    let text = refusal(set(&mut ready, of_first));
    assert!(
        text.contains("that it was updated by"),
        "the way out is named: {text}"
    );
    set(&mut ready, of_second)?;
    ready.launch(&stream)?;
    // The kernel that decides is another one now: the branch has the value that each launch begins with.
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { ready.set_kernel_untyped(node, &add, grid, (&mut value, 1_u32)) }?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&done)?, [3]);
    Ok(())
}

// covers: MULTI-02, GRAPH-50
#[test]
fn no_change_brings_what_is_of_another_device() {
    with_two(|one, other| {
        let try_all = || -> Result<()> {
            let (own_module, foreign_module) = (module(&one), module(&other));
            let (own, foreign) = (add(&own_module), add(&foreign_module));
            let (stream, far) = (one.stream()?, other.stream()?);
            let (mut x, mut y) = (stream.zeroed::<u32>(4)?, stream.zeroed::<u32>(4)?);
            let mut there = far.zeroed::<u32>(4)?;
            let (here_event, far_event) = (one.event()?, other.event()?);
            let (here_flag, far_flag) = (one.flag(0_u32)?, other.flag(0_u32)?);
            let mut step = one.graph()?;
            add_node(&mut step, &own, &mut x, 1);
            let mut far_step = other.graph()?;
            add_node(&mut far_step, &foreign, &mut there, 1);

            let mut graph = one.graph()?;
            let kernel = add_node(&mut graph, &own, &mut x, 1);
            let copy = graph.copy(&x, &mut y)?;
            let fill = graph.fill(&mut y, 1)?;
            let child = graph.child(&step)?;
            let record = graph.record(&here_event)?;
            let flags = graph.write_value(&here_flag, 1)?;
            let mut ready = graph.instantiate()?;
            let grid = Grid::new(1, 4);
            let set = |ready: &mut GraphExec, add: &Add, to: &mut DeviceBuffer<u32>| {
                // SAFETY: the entry takes a slice and a number, and writes only the slice.
                unsafe { ready.set_kernel_untyped(kernel, add, grid, (to, 1_u32)) }
            };
            for refused in [
                set(&mut ready, &foreign, &mut x),
                set(&mut ready, &own, &mut there),
                ready.set_copy(copy, &there, &mut y),
                ready.set_copy(copy, &x, &mut there),
                ready.set_fill(fill, &mut there, 1),
                ready.set_child(child, &far_step),
                ready.set_recorded_event(record, &far_event),
                ready.set_flags(flags, &FlagOperations::new().write(&far_flag, 1)),
                ready.update(&far_step),
            ] {
                let error = refused.expect_err("it is of another device");
                assert_eq!(error.code(), Some(Code::INVALID_CONTEXT), "{error}");
            }
            // All is as it was.
            ready.launch(&stream)?;
            assert_eq!(stream.download(&x)?, [2; 4]);
            assert_eq!(far.download(&there)?, [0; 4]);
            Ok(())
        };
        try_all().expect("all but what is refused works");
    });
}

/// Stores how many blocks a cluster has.
const CLUSTERS: &str = "
.version 7.8
.target sm_90
.address_size 64

.visible .entry of_two(.param .u64 out, .param .u64 len)
.reqnctapercluster 2, 1, 1
{
    .reg .b32 %n;
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    mov.u32 %n, %cluster_nctaid.x;
    st.global.u32 [%a], %n;
    ret;
}

.visible .entry of_any(.param .u64 out, .param .u64 len)
{
    .reg .b32 %n;
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    mov.u32 %n, %cluster_nctaid.x;
    st.global.u32 [%a], %n;
    ret;
}
";

/// The clusters that a kernel was compiled for stay with the node, as do those that a grid asks for.
// covers: GRAPH-53
#[test]
fn a_node_keeps_the_clusters_that_its_kernel_was_compiled_for() -> Result<()> {
    let gpu = gpu();
    if gpu.compute_capability().major < 9 {
        return Ok(());
    }
    let module = gpu.load(CLUSTERS)?;
    let of_two: UntypedKernel<(Out<u32>,)> = module.untyped_kernel("of_two")?;
    let of_any: UntypedKernel<(Out<u32>,)> = module.untyped_kernel("of_any")?;
    let stream = gpu.stream()?;
    let mut size = stream.zeroed::<u32>(1)?;
    let grid = Grid::new(4, 1);
    let kernels = [(&of_any, 1), (&of_two, 2)];
    for (first, (kernel, size_of)) in kernels.into_iter().enumerate() {
        let (other, _) = kernels[1 - first];
        let mut graph = gpu.graph()?;
        // SAFETY: the entries write one word.
        let node = unsafe { graph.kernel_untyped(kernel, grid, (&mut size,)) }?;
        let mut ready = graph.instantiate()?;
        // SAFETY: the entries write one word.
        let refused = unsafe { ready.set_kernel_untyped(node, other, grid, (&mut size,)) };
        let text = refusal(refused);
        assert!(text.contains("was compiled for"), "{text}");
        assert!(text.contains("clusters of 2 x 1 x 1 blocks"), "{text}");
        // SAFETY: the entries write one word.
        unsafe { ready.set_kernel_untyped(node, kernel, grid, (&mut size,)) }?;
        ready.launch(&stream)?;
        assert_eq!(stream.download(&size)?, [size_of]);
        // What the grid asks for.
        let with_clusters = grid.cluster(2);
        // SAFETY: the entries write one word.
        let refused =
            unsafe { ready.set_kernel_untyped(node, kernel, with_clusters, (&mut size,)) };
        assert!(refusal(refused).contains("keeps its clusters"));
        // The whole.
        let mut whole = gpu.graph()?;
        // SAFETY: the entries write one word.
        unsafe { whole.kernel_untyped(other, grid, (&mut size,)) }?;
        let refused = ready.update(&whole);
        assert!(refusal(refused).contains("compiled for other clusters"));
        ready.launch(&stream)?;
        assert_eq!(stream.download(&size)?, [size_of]);
    }
    Ok(())
}
