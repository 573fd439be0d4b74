//! Batches as nodes of graphs.

use super::*;

#[test]
fn captured_operations_are_nodes() {
    let _turn = turn();
    gpu();
    let (captured, other) = (stream(), stream());
    let (word, result) = (Word::new(), Word::new());
    ok!(cuStreamBeginCapture_v2(captured, RELAXED));
    // SAFETY: the stream and the memory live for the test.
    let first = unsafe { cuStreamWaitValue32_v2(captured, word.address(), 3, EQ) };
    if first.0 == 900 {
        // A driver that cannot capture it says so.
        assert_eq!(gpu(), Backend::Cuda);
        let mut graph = null_mut();
        fails!(901, cuStreamEndCapture(captured, &mut graph));
        return;
    }
    assert_eq!(first.0, 0);
    ok!(cuStreamWriteValue32_v2(captured, result.address(), 4, 0));
    let mut graph = null_mut();
    ok!(cuStreamEndCapture(captured, &mut graph));
    let mut count = 0;
    ok!(cuGraphGetNodes(graph, null_mut(), &mut count));
    let mut nodes = vec![null_mut(); count];
    ok!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
    assert!(!nodes.is_empty());
    for &node in &nodes {
        let mut kind = CUgraphNodeType_enum(99);
        ok!(cuGraphNodeGetType(node, &mut kind));
        assert_eq!(kind, CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    }
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    for _ in 0..2 {
        word.store(0);
        result.store(0);
        ok!(cuGraphLaunch(exec, captured));
        std::thread::sleep(Duration::from_millis(10));
        fails!(600, cuStreamQuery(captured));
        assert_eq!(result.load(), 0);
        ok!(cuStreamWriteValue32_v2(other, word.address(), 3, 0));
        ok!(cuStreamSynchronize(captured));
        assert_eq!(result.load(), 4);
    }
    ok!(cuStreamSynchronize(other));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    for stream in [captured, other] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

fn node_parameters(batch: &mut [CUstreamBatchMemOpParams]) -> CUDA_BATCH_MEM_OP_NODE_PARAMS {
    CUDA_BATCH_MEM_OP_NODE_PARAMS {
        ctx: get!(cuCtxGetCurrent()),
        count: batch.len() as c_uint,
        paramArray: batch.as_mut_ptr(),
        flags: 0,
    }
}

#[test]
fn nodes_have_parameters_that_can_be_asked_for_and_changed() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let results = [Word::new(), Word::new()];
    let graph: CUgraph = get!(cuGraphCreate(0));
    let mut batch = [
        write(results[0].address(), 1),
        wait(results[0].address(), 1, EQ),
    ];
    let parameters = node_parameters(&mut batch);
    let node: CUgraphNode = get!(cuGraphAddBatchMemOpNode(graph, null_mut(), 0, &parameters));
    let mut known = CUDA_BATCH_MEM_OP_NODE_PARAMS::default();
    ok!(cuGraphBatchMemOpNodeGetParams(node, &mut known));
    assert_eq!((known.count, known.flags), (2, 0));
    // SAFETY: the array is the node's and has so many entries, the first of which is a write.
    let first = unsafe { (*known.paramArray).writeValue };
    assert_eq!(first.address, results[0].address());

    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    let run = |exec| {
        ok!(cuGraphLaunch(exec, stream));
        ok!(cuStreamSynchronize(stream));
    };
    run(exec);
    assert_eq!(results[0].load(), 1);

    // Addresses and values may change where the graph is executable already, the kinds of operation may not.
    let mut other = [
        write(results[1].address(), 5),
        wait(results[1].address(), 5, GEQ),
    ];
    let changed = node_parameters(&mut other);
    ok!(cuGraphExecBatchMemOpNodeSetParams(exec, node, &changed));
    run(exec);
    assert_eq!(results[1].load(), 5);
    let mut fewer = [write(results[1].address(), 6)];
    let wrong = node_parameters(&mut fewer);
    refuses!(1, cuGraphExecBatchMemOpNodeSetParams(exec, node, &wrong));
    let mut others = [
        write(results[1].address(), 6),
        write(results[1].address(), 7),
    ];
    let wrong = node_parameters(&mut others);
    refuses!(1, cuGraphExecBatchMemOpNodeSetParams(exec, node, &wrong));

    // The template's node may become anything.
    ok!(cuGraphBatchMemOpNodeSetParams(node, &wrong));
    let again: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    run(again);
    assert_eq!(results[1].load(), 7);
    let mut misplaced = [write(results[1].address() + 2, 6)];
    let wrong = node_parameters(&mut misplaced);
    refuses!(1, cuGraphBatchMemOpNodeSetParams(node, &wrong));
    for exec in [exec, again] {
        ok!(cuGraphExecDestroy(exec));
    }
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
}

/// A device may execute the branches one after the other; the simulator does not.
#[test]
fn branches_that_wait_do_not_hold_the_others_up() {
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let stream = stream();
    let word = Word::new();
    let graph: CUgraph = get!(cuGraphCreate(0));
    for _ in 0..20 {
        let parameters = &node_parameters(&mut [wait(word.address(), 1, EQ)]);
        let _: CUgraphNode = get!(cuGraphAddBatchMemOpNode(graph, null_mut(), 0, parameters));
    }
    let parameters = &node_parameters(&mut [write(word.address(), 1)]);
    let _: CUgraphNode = get!(cuGraphAddBatchMemOpNode(graph, null_mut(), 0, parameters));
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
}
