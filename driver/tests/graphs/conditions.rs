//! Conditional nodes: which body runs, how often, and what bodies cannot do.

use std::sync::atomic::Ordering;

use crate::common::graphs::*;
use crate::common::*;
use warpsmith_driver::fault;
use warpsmith_testkit::{Side, own_process, ptx};

const KERNELS: &str = ptx!(
    "8.0",
    "sm_90",
    "
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.extern .func (.param .b32 result) cudaGraphLaunch(.param .b64 exec, .param .b64 stream);

// handle = word[0]
.visible .entry decide(.param .u64 handle, .param .u64 word)
{
    .reg .b32 %r; .reg .b64 %h; .reg .b64 %a;
    ld.param.u64 %h, [handle];
    ld.param.u64 %a, [word];
    ld.global.u32 %r, [%a];
    {
        .param .b64 a; .param .b32 b;
        st.param.b64 [a], %h;
        st.param.b32 [b], %r;
        call.uni cudaGraphSetConditional, (a, b);
    }
    ret;
}

.visible .entry launch(.param .u64 exec)
{
    .reg .b64 %a;
    ld.param.u64 %a, [exec];
    {
        .param .b64 a; .param .b64 b; .param .b32 c;
        st.param.b64 [a], %a;
        st.param.b64 [b], 0x0200000000000000;
        call.uni (c), cudaGraphLaunch, (a, b);
    }
    ret;
}\0"
);

fn kernel(name: &core::ffi::CStr) -> CUfunction {
    let module: CUmodule = get!(cuModuleLoadData(KERNELS.as_ptr().cast()));
    get!(cuModuleGetFunction(module, name.as_ptr()))
}

fn handle(graph: CUgraph, default: u32) -> CUgraphConditionalHandle {
    let context: CUcontext = get!(cuCtxGetCurrent());
    get!(cuGraphConditionalHandleCreate(graph, context, default, 1))
}

// covers: COND-10
#[test]
fn the_value_chooses_the_body() {
    const IF: CUgraphConditionalNodeType = CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF;
    const SWITCH: CUgraphConditionalNodeType =
        CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_SWITCH;
    let _turn = turn();
    gpu();
    let version: i32 = get!(cuDriverGetVersion());
    if version < 12080 {
        return;
    }
    let (decide, stream) = (kernel(c"decide"), stream());
    let (choice, result) = (upload(&[0_u32]), upload(&[0_u32]));
    // For each value the number of the body that runs.
    type Chosen = [(u32, Option<u32>); 4];
    let two: Chosen = [(0, Some(1)), (1, Some(0)), (9, Some(0)), (0, Some(1))];
    let several: Chosen = [(0, Some(0)), (2, Some(2)), (3, None), (1, Some(1))];
    for (kind, count, chosen) in [(IF, 2, two), (SWITCH, 3, several)] {
        let graph = graph();
        let handle = handle(graph, 0);
        let before = fill_node(graph, &[], result, 77, 1);
        let set = kernel_node(graph, &[before], decide, 1, &[handle, choice]);
        let (_, bodies) = conditional_node(graph, &[set], handle, kind, count);
        for (number, &body) in (0..).zip(&bodies) {
            fill_node(body, &[], result, number, 1);
        }
        let exec = instantiate(graph);
        for (value, body) in chosen {
            ok!(cuMemsetD32_v2(choice, value, 1));
            ok!(cuCtxSynchronize());
            launch(exec, stream);
            let found = download::<u32>(result, 1)[0];
            assert_eq!(found, body.unwrap_or(77), "{value} of {count}");
        }
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
    }
    ok!(cuMemFree_v2(choice));
    ok!(cuMemFree_v2(result));
    ok!(cuStreamDestroy_v2(stream));
}

// covers: COND-08
#[test]
fn a_kernel_of_a_body_that_launches_a_graph_is_reported() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        // What happens there is undefined.
        return;
    }
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let (memory, stream) = (upload(&[0_u32]), stream());
    let launched = graph();
    fill_node(launched, &[], memory, 7, 1);
    // `CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`
    let launched: CUgraphExec = get!(cuGraphInstantiateWithFlags(launched, 4));
    ok!(cuGraphUpload(launched, stream));
    let graph = graph();
    let (_, bodies) = conditional_node(
        graph,
        &[],
        handle(graph, 1),
        CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF,
        1,
    );
    kernel_node(bodies[0], &[], kernel(c"launch"), 1, &[launched as u64]);
    ok!(cuGraphLaunch(instantiate(graph), stream));
    fails!(700, cuStreamSynchronize(stream));
    let text = fault(context).expect("a fault").to_string();
    assert!(text.contains("in the body of a conditional node"), "{text}");
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn conditional_bodies_run_by_their_value() {
    // covers: COND-01, COND-02, COND-04, COND-05
    let _turn = turn();
    gpu();
    let stream = stream();
    let memory = upload(&[0u32; 1]);
    for (default, expected) in [(0, 1), (1, 7)] {
        let graph = graph();
        let context = get!(cuCtxGetCurrent());
        let handle: CUgraphConditionalHandle =
            get!(cuGraphConditionalHandleCreate(graph, context, default, 1));
        let mut exec = null_mut();
        fails!(1, cuGraphInstantiateWithFlags(&mut exec, graph, 0));
        let before = fill_node(graph, &[], memory, 1, 1);
        let mut parameters = CUgraphNodeParams {
            type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
            ..Default::default()
        };
        parameters.__bindgen_anon_1.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            type_: CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF,
            size: 1,
            phGraph_out: null_mut(),
            ctx: context,
        };
        let node: CUgraphNode = get!(cuGraphAddNode_v2(
            graph,
            &before,
            null(),
            1,
            &mut parameters
        ));
        // SAFETY: the driver has filled in an array of one graph.
        let body = unsafe { *parameters.__bindgen_anon_1.conditional.phGraph_out };
        fill_node(body, &[], memory, 7, 1);
        let count = counter();
        host_node(graph, &[node], count);
        let exec = instantiate(graph);
        for launches in 1..=2 {
            launch(exec, stream);
            assert_eq!(download::<u32>(memory, 1), [expected]);
            assert_eq!(
                count.load(Ordering::SeqCst),
                launches,
                "what follows runs either way"
            );
        }
        // A handle is for one node.
        fails!(
            1,
            cuGraphAddNode_v2(&mut null_mut(), graph, null(), null(), 0, &mut parameters)
        );
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
    }
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_condition_belongs_to_its_graph() {
    // covers: COND-02
    let _turn = turn();
    gpu();
    let context = get!(cuCtxGetCurrent());
    let (own, other) = (graph(), graph());
    let handle: CUgraphConditionalHandle = get!(cuGraphConditionalHandleCreate(own, context, 0, 0));
    let mut parameters = CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
        ..Default::default()
    };
    parameters.__bindgen_anon_1.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
        handle,
        type_: CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF,
        size: 1,
        phGraph_out: null_mut(),
        ctx: context,
    };
    let mut node = null_mut();
    fails!(
        1,
        cuGraphAddNode_v2(&mut node, other, null(), null(), 0, &mut parameters)
    );
    // A node that cannot be added takes no handle.
    let foreign: CUgraphNode = get!(cuGraphAddEmptyNode(other, null(), 0));
    fails!(
        1,
        cuGraphAddNode_v2(&mut node, own, &foreign, null(), 1, &mut parameters)
    );
    ok!(cuGraphAddNode_v2(
        &mut node,
        own,
        null(),
        null(),
        0,
        &mut parameters
    ));
    for graph in [own, other] {
        ok!(cuGraphDestroy(graph));
    }
}

#[test]
fn an_endless_loop_is_stopped_and_reported() {
    // covers: COND-06
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let (graph, stream) = (graph(), stream());
    let handle: CUgraphConditionalHandle =
        get!(cuGraphConditionalHandleCreate(graph, context, 1, 1));
    let mut parameters = CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
        ..Default::default()
    };
    parameters.__bindgen_anon_1.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
        handle,
        type_: CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE,
        size: 1,
        phGraph_out: null_mut(),
        ctx: context,
    };
    let _: CUgraphNode = get!(cuGraphAddNode_v2(graph, null(), null(), 0, &mut parameters));
    let exec = instantiate(graph);
    assert!(warpsmith_driver::configure_simulator("iterations", "1000"));
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    ok!(cuGraphLaunch(exec, stream));
    fails!(702, cuStreamSynchronize(stream));
    assert!(
        warpsmith_driver::simulator_report()
            .unwrap()
            .contains("1000 passes")
    );
    let mut memory = 0;
    fails!(702, cuMemAlloc_v2(&mut memory, 16));
    ok!(cuCtxDestroy_v2(context));
    assert!(warpsmith_driver::configure_simulator(
        "iterations",
        "10000000"
    ));
    gpu();
    ok!(cuMemAlloc_v2(&mut memory, 16));
}

// covers: COND-06
#[test]
fn a_loop_that_takes_long_is_named_once() {
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_PATIENCE", "0.05"),
    ];
    let Side::Parent(output) = own_process(&variables) else {
        gpu();
        assert!(warpsmith_driver::configure_simulator(
            "iterations",
            &u64::MAX.to_string()
        ));
        let (decide, stream, other) = (kernel(c"decide"), stream(), stream());
        let again = upload(&[7_u32]);
        let graph = graph();
        let handle = handle(graph, 1);
        let kind = CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE;
        let (node, bodies) = conditional_node(graph, &[], handle, kind, 1);
        kernel_node(bodies[0], &[], decide, 1, &[handle, again]);
        println!(
            "the loop is {:#x}, its condition {handle:#x}",
            node as usize
        );
        ok!(cuGraphLaunch(instantiate(graph), stream));
        std::thread::sleep(std::time::Duration::from_millis(400));
        ok!(cuMemsetD32Async(again, 0, 1, other));
        ok!(cuStreamSynchronize(stream));
        return;
    };
    let printed = output.text();
    let words = |text: &str| -> Vec<String> {
        let is_part = |c: char| c.is_ascii_alphanumeric();
        text.split(|c| !is_part(c)).map(String::from).collect()
    };
    let line = |part: &str| {
        let mut lines = printed.lines().filter(|line| line.contains(part));
        let line = lines.next().unwrap_or_else(|| panic!("{printed}"));
        assert_eq!(lines.next(), None, "{printed}");
        words(line)
    };
    let (told, names) = (line("of a graph has run for"), line("the loop is"));
    let numbers: Vec<_> = names.iter().filter(|word| word.starts_with("0x")).collect();
    assert_eq!(numbers.len(), 2, "{names:?}");
    assert!(
        numbers.iter().all(|number| told.contains(number)),
        "{printed}"
    );
    assert!(told.ends_with(&["still".into(), "7".into()]), "{printed}");
}
