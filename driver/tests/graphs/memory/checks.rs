//! What the simulator finds: uses outside of the lifetime, and those that nothing orders.

use super::*;

/// Runs a graph in a context of its own, which it breaks. Gives what the simulator says of it.
fn found(build: impl FnOnce(CUgraph, &Kernels)) -> String {
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let (graph, stream) = (graph(), stream());
    build(graph, &Kernels::load());
    ok!(cuGraphLaunch(instantiate(graph), stream));
    fails!(700, cuStreamSynchronize(stream));
    let text = fault(context).expect("a fault").to_string();
    ok!(cuGraphDestroy(graph));
    ok!(cuCtxDestroy_v2(context));
    text
}

#[test]
fn a_node_outside_of_the_order_of_its_memory_is_found() {
    // covers: GMEM-04, GMEM-16
    let _turn = turn();
    if gpu() == Backend::Cuda {
        println!("skipped: only the simulator finds it, whichever order the nodes run in");
        return;
    }
    // Beside the free, and before the allocation.
    for is_root in [false, true] {
        let text = found(|graph, kernels| {
            let (node, memory) = allocate(graph, &[], BYTES);
            let set = kernel(graph, &[node], kernels.set, memory);
            // Others hold the free back, so that by luck all of them find the memory live.
            let late = (0..20).fold(set, |before, _| {
                kernel(graph, &[before], kernels.add, memory)
            });
            let before: &[CUgraphNode] = match is_root {
                true => &[],
                false => &[set],
            };
            kernel(graph, before, kernels.add, memory);
            free(graph, &[late], memory);
        });
        assert!(
            text.contains("no edges of the graph order this node"),
            "{text}"
        );
        assert!(
            text.contains("graph memory of cuGraphAddMemAllocNode"),
            "{text}"
        );
    }
    let text = found(|graph, kernels| {
        let (node, memory) = allocate(graph, &[], BYTES);
        let set = kernel(graph, &[node], kernels.set, memory);
        let freed = free(graph, &[set], memory);
        let (_, again) = allocate(graph, &[freed], BYTES);
        assert_eq!(again, memory);
        // Between the two allocations: the address is neither's.
        copy_node(graph, &[freed], again + 64, memory, 16);
    });
    assert!(
        text.contains("no edges of the graph order this node"),
        "{text}"
    );
}

#[test]
fn memory_outside_of_its_lifetime_is_found() {
    // covers: GMEM-05, GMEM-16
    let _turn = turn();
    if gpu() == Backend::Cuda {
        println!("skipped: only the simulator finds it; a GPU may hit what lies there by then");
        return;
    }
    for (launches, expected) in [(0, "is not allocated"), (1, "freed by a free node")] {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let kernels = Kernels::load();
        let (graph, stream) = (graph(), stream());
        let (node, memory) = allocate(graph, &[], BYTES);
        let set = kernel(graph, &[node], kernels.set, memory);
        free(graph, &[set], memory);
        let exec = instantiate(graph);
        for _ in 0..launches {
            ok!(cuGraphLaunch(exec, stream));
        }
        // Another graph has the physical memory by now; the stale pointer is found all the same.
        let (second, other) = producer(&kernels);
        let holder = instantiate(second);
        ok!(cuGraphLaunch(holder, stream));
        ok!(cuStreamSynchronize(stream));
        launch_kernel(kernels.add, memory, stream);
        fails!(700, cuStreamSynchronize(stream));
        let text = fault(context).expect("a fault").to_string();
        assert!(text.contains(expected), "{text}");
        ok!(cuCtxDestroy_v2(context));
        fails!(1, cuMemFree_v2(other));
        for graph in [graph, second] {
            ok!(cuGraphDestroy(graph));
        }
    }
}

#[test]
fn a_free_that_nothing_orders_after_the_allocation_is_found() {
    // covers: GMEM-07, GMEM-16
    let _turn = turn();
    if gpu() == Backend::Cuda {
        println!("skipped: only the simulator finds it");
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let (one, two) = (stream(), stream());
    let (source, memory) = producer(&Kernels::load());
    let gate = Gate::new();
    gate.block(one);
    ok!(cuGraphLaunch(instantiate(source), one));
    ok!(cuMemFreeAsync(memory, two));
    fails!(700, cuStreamSynchronize(two));
    gate.open();
    let text = fault(context).expect("a fault").to_string();
    assert!(
        text.contains("was freed while it was not allocated"),
        "{text}"
    );
    ok!(cuCtxDestroy_v2(context));
    ok!(cuGraphDestroy(source));
}

#[test]
fn contents_end_with_the_free() {
    // covers: GMEM-05
    let _turn = turn();
    if gpu() == Backend::Cuda {
        println!("skipped: what a GPU reads is not defined");
        return;
    }
    let kernels = Kernels::load();
    let (graph, stream, result) = (graph(), stream(), upload(&[9u32; 4]));
    let (node, memory) = allocate(graph, &[], BYTES);
    let read = copy_node(graph, &[node], result, memory, 16);
    let set = kernel(graph, &[read], kernels.set, memory);
    free(graph, &[set], memory);
    let exec = instantiate(graph);
    for _ in 0..2 {
        ok!(cuGraphLaunch(exec, stream));
    }
    ok!(cuStreamSynchronize(stream));
    assert_ne!(download::<u32>(result, 1), [5], "the first launch's");
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuMemFree_v2(result));
    ok!(cuStreamDestroy_v2(stream));
}
