//! Nodes of graphs that wait for events: which of an event's recordings they mean.

use std::time::Duration;

use crate::common::*;

/// A word that streams wait for.
struct Gate(Word);

impl Gate {
    fn new() -> Gate {
        Gate(Word::new())
    }

    fn block(&self, stream: CUstream) {
        self.0.store(0);
        let equal = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ.0;
        ok!(cuStreamWaitValue32_v2(stream, self.0.address(), 1, equal));
    }

    fn open(&self) {
        self.0.store(1);
    }
}

/// What is recorded after the launch, but before the node is executed, changes nothing of what the node waits for.
#[test]
fn a_wait_means_the_recording_before_the_launch() {
    // covers: GRAPH-09
    let _turn = turn();
    gpu();
    let [launched, held, idle] = [stream(), stream(), stream()];
    let event: CUevent = get!(cuEventCreate(2));
    let result = Word::new();
    let graph: CUgraph = get!(cuGraphCreate(0));
    let wait: CUgraphNode = get!(cuGraphAddEventWaitNode(graph, null(), 0, event));
    let fill = CUDA_MEMSET_NODE_PARAMS {
        dst: result.address(),
        pitch: 0,
        value: 7,
        elementSize: 4,
        width: 1,
        height: 1,
    };
    let context: CUcontext = get!(cuCtxGetCurrent());
    let _: CUgraphNode = get!(cuGraphAddMemsetNode(graph, &wait, 1, &fill, context));
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    let (of_launch, of_event) = (Gate::new(), Gate::new());

    // Not complete at the launch; later recorded as complete.
    of_event.block(held);
    ok!(cuEventRecord(event, held));
    of_launch.block(launched);
    ok!(cuGraphLaunch(exec, launched));
    ok!(cuEventRecord(event, idle));
    of_launch.open();
    std::thread::sleep(Duration::from_millis(20));
    fails!(600, cuStreamQuery(launched));
    assert_eq!(result.load(), 0);
    of_event.open();
    ok!(cuStreamSynchronize(launched));
    assert_eq!(result.load(), 7);
    result.store(0);

    // Complete at the launch; later recorded as one that is not.
    ok!(cuEventRecord(event, idle));
    ok!(cuStreamSynchronize(idle));
    of_launch.block(launched);
    ok!(cuGraphLaunch(exec, launched));
    of_event.block(held);
    ok!(cuEventRecord(event, held));
    of_launch.open();
    ok!(cuStreamSynchronize(launched));
    assert_eq!(result.load(), 7);
    of_event.open();
    ok!(cuStreamSynchronize(held));

    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuEventDestroy_v2(event));
    for stream in [launched, held, idle] {
        ok!(cuStreamDestroy_v2(stream));
    }
}
