//! Executable graphs: instantiation, launch, updates of the whole and of single nodes.

use std::sync::Arc;

use super::entry::*;
use super::nodes;
use crate::context::current;
use crate::graph::{self, DEVICE_LAUNCH, EXECS, Exec, GRAPHS, Problem, Refusal};
use crate::streams::{self, EVENTS, Operation};

const KNOWN_FLAGS: u64 = 15;
const AUTO_FREE_ON_LAUNCH: u64 = 1;
const UPLOAD: u64 = 2;
/// What `cuGraphExecGetFlags` tells (H200, driver 580.159.04).
const TOLD_FLAGS: u64 = AUTO_FREE_ON_LAUNCH | DEVICE_LAUNCH;

driver_calls! {
    Ready fn cuGraphInstantiate(
        phGraphExec: *mut CUgraphExec, hGraph: CUgraph, phErrorNode: *mut CUgraphNode, logBuffer: *mut c_char,
        bufferSize: usize,
    ) {
        instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)?;
    }

    Ready fn cuGraphInstantiate_v2(
        phGraphExec: *mut CUgraphExec, hGraph: CUgraph, phErrorNode: *mut CUgraphNode, logBuffer: *mut c_char,
        bufferSize: usize,
    ) {
        instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)?;
    }

    Ready fn cuGraphInstantiateWithFlags(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, flags: c_ulonglong) {
        if flags & UPLOAD != 0 {
            return Err(code::INVALID_VALUE);
        }
        instantiate(phGraphExec, hGraph, flags)?.map_err(|problem| problem.code)?;
    }

    Ready fn cuGraphInstantiateWithParams(
        phGraphExec: *mut CUgraphExec, hGraph: CUgraph, instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
    ) {
        let parameters = instantiateParams.as_mut().ok_or(code::INVALID_VALUE)?;
        parameters.hErrNode_out = core::ptr::null_mut();
        parameters.result_out = CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_ERROR;
        let upload = match parameters.flags & UPLOAD {
            0 => None,
            _ => Some(streams::find(parameters.hUploadStream)?),
        };
        match instantiate(phGraphExec, hGraph, parameters.flags)? {
            Ok(exec) => {
                upload.map_or(Ok(()), |stream| exec.upload(&stream))?;
                parameters.result_out = CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS;
            }
            Err(problem) => {
                parameters.result_out = problem.result;
                parameters.hErrNode_out = problem.node as CUgraphNode;
                return Err(problem.code);
            }
        }
    }

    Ready fn cuGraphExecDestroy(hGraphExec: CUgraphExec) {
        // A launch that is running holds what it needs.
        EXECS.remove(hGraphExec)?;
    }

    Ready fn cuGraphExecGetFlags(hGraphExec: CUgraphExec, flags: *mut cuuint64_t) {
        put(flags, EXECS.get(hGraphExec)?.flags & TOLD_FLAGS)?;
    }

    Ready fn cuGraphUpload(hGraph: CUgraphExec, hStream: CUstream) {
        let (exec, stream) = (EXECS.get(hGraph)?, streams::find(hStream)?);
        stream.capture.refuse_if_capturing()?;
        exec.upload(&stream)?;
    }

    Ready fn cuGraphLaunch(hGraphExec: CUgraphExec, hStream: CUstream) {
        let exec = EXECS.get(hGraphExec)?;
        let stream = streams::find(hStream)?;
        // A launch cannot be captured: nodes of a graph are what a capture holds, not executable graphs.
        stream.capture.refuse_if_capturing()?;
        stream.capture.refuse_implicit_dependency()?;
        exec.launch(&stream)?;
    }

    Ready fn cuGraphExecUpdate(
        hGraphExec: CUgraphExec, hGraph: CUgraph, hErrorNode_out: *mut CUgraphNode,
        updateResult_out: *mut CUgraphExecUpdateResult,
    ) {
        if updateResult_out.is_null() || hErrorNode_out.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let refusal = update(hGraphExec, hGraph)?;
        updateResult_out.write(outcome_of(&refusal));
        hErrorNode_out.write(refusal.map_or(0, |refusal| refusal.node) as CUgraphNode);
        check(&refusal)?;
    }

    Ready fn cuGraphExecUpdate_v2(
        hGraphExec: CUgraphExec, hGraph: CUgraph, resultInfo: *mut CUgraphExecUpdateResultInfo,
    ) {
        if resultInfo.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let refusal = update(hGraphExec, hGraph)?;
        resultInfo.write(CUgraphExecUpdateResultInfo {
            result: outcome_of(&refusal),
            errorNode: refusal.map_or(0, |refusal| refusal.node) as CUgraphNode,
            errorFromNode: refusal.map_or(0, |refusal| refusal.compared_with) as CUgraphNode,
        });
        check(&refusal)?;
    }

    Ready fn cuGraphExecKernelNodeSetParams(
        hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1,
    ) {
        let parameters = nodes::kernel::extended(parameters(nodeParams)?);
        set(hGraphExec, hNode, |old| nodes::kernel::kernel(&parameters, Some(old)))?;
    }

    Ready fn cuGraphExecKernelNodeSetParams_v2(
        hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
    ) {
        let parameters = parameters(nodeParams)?;
        set(hGraphExec, hNode, |old| nodes::kernel::kernel(parameters, Some(old)))?;
    }

    Ready fn cuGraphExecMemcpyNodeSetParams(
        hGraphExec: CUgraphExec, hNode: CUgraphNode, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext,
    ) {
        let copy = nodes::memory::copy(&*nodes::check_context(ctx)?, parameters(copyParams)?)?;
        set(hGraphExec, hNode, |_| Ok(copy))?;
    }

    Ready fn cuGraphExecMemsetNodeSetParams(
        hGraphExec: CUgraphExec, hNode: CUgraphNode, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext,
    ) {
        nodes::check_context(ctx)?;
        let parameters = parameters(memsetParams)?;
        set(hGraphExec, hNode, |_| nodes::memory::memset(parameters))?;
    }

    Ready fn cuGraphExecHostNodeSetParams(
        hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS,
    ) {
        let parameters = parameters(nodeParams)?;
        set(hGraphExec, hNode, |_| nodes::host::host(parameters))?;
    }

    Ready fn cuGraphExecChildGraphNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, childGraph: CUgraph) {
        let exec = EXECS.get(hGraphExec)?;
        let child = GRAPHS.get(childGraph)?;
        exec.set_child(hNode as usize, &child)?;
    }

    Ready fn cuGraphExecBatchMemOpNodeSetParams(
        hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
    ) {
        let parameters = parameters(nodeParams)?;
        set(hGraphExec, hNode, |_| nodes::batch::batch(parameters))?;
    }

    Ready fn cuGraphExecExternalSemaphoresSignalNodeSetParams(
        hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
    ) {
        let parameters = parameters(nodeParams)?;
        set(hGraphExec, hNode, |_| nodes::semaphore::signal(parameters))?;
    }

    Ready fn cuGraphExecExternalSemaphoresWaitNodeSetParams(
        hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    ) {
        let parameters = parameters(nodeParams)?;
        set(hGraphExec, hNode, |_| nodes::semaphore::wait(parameters))?;
    }

    Ready fn cuGraphExecEventRecordNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent) {
        let event = EVENTS.get(not_null(event)?)?;
        set(hGraphExec, hNode, |old| match old {
            Operation::EventRecord(old) if old.context != event.context => Err(code::INVALID_VALUE),
            _ => Ok(Operation::EventRecord(event)),
        })?;
    }

    Ready fn cuGraphExecEventWaitNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent) {
        let event = EVENTS.get(not_null(event)?)?;
        set(hGraphExec, hNode, |old| match old {
            Operation::EventWait(old) if old.context != event.context => Err(code::INVALID_VALUE),
            _ => Ok(Operation::EventWait(event)),
        })?;
    }

    Ready fn cuGraphExecNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) {
        let given = parameters(nodeParams)?;
        if given.type_ == CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH {
            let child = GRAPHS.get(given.__bindgen_anon_1.graph.graph)?;
            EXECS.get(hGraphExec)?.set_child(hNode as usize, &child)?;
        } else {
            set(hGraphExec, hNode, |old| nodes::any::from_any(given, Some(old)))?;
        }
    }

    Ready fn cuGraphNodeSetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: c_uint) {
        EXECS.get(hGraphExec)?.set_enabled(hNode as usize, isEnabled != 0)?;
    }

    Ready fn cuGraphNodeGetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: *mut c_uint) {
        put(isEnabled, c_uint::from(EXECS.get(hGraphExec)?.is_enabled(hNode as usize)?))?;
    }
}

/// # Safety
///
/// `to` is null or valid for writing.
unsafe fn instantiate(
    to: *mut CUgraphExec,
    graph: CUgraph,
    flags: u64,
) -> Result<core::result::Result<Arc<Exec>, Problem>> {
    let context = current()?;
    let graph = GRAPHS.get(graph)?;
    let frees_on_device = flags & TOLD_FLAGS == TOLD_FLAGS;
    if to.is_null() || flags & !KNOWN_FLAGS != 0 || frees_on_device || graph.is_owned() {
        return Err(code::INVALID_VALUE);
    }
    let instance = graph::instance_of(&graph)?;
    let compiled = graph::compile(&graph).and_then(|plan| {
        if flags & DEVICE_LAUNCH != 0 {
            graph::check_for_device(&plan, context.device)?;
        }
        Ok(plan)
    });
    let plan = match compiled {
        Ok(plan) => plan,
        Err(problem) => return Ok(Err(problem)),
    };
    let exec = context.add_to(&EXECS, |handle| {
        Exec::new(
            handle,
            context.id(),
            flags,
            plan,
            graph.all_objects(),
            instance,
        )
    });
    // SAFETY: not null, so valid for writing by the caller's contract.
    unsafe { to.write(exec.handle as CUgraphExec) };
    Ok(Ok(exec))
}

/// # Safety
///
/// `to` and `error_node` are null or valid for writing; `log` is null or valid for writing `size` bytes.
unsafe fn instantiate_with_log(
    to: *mut CUgraphExec,
    graph: CUgraph,
    error_node: *mut CUgraphNode,
    log: *mut c_char,
    size: usize,
) -> Result {
    // SAFETY: `to` and `error_node` are null or valid for writing and `log` is null or has `size` bytes by the caller's contract; at
    // most `size` bytes are written, the last of which is the terminating zero.
    unsafe {
        let outcome = instantiate(to, graph, 0)?;
        if !log.is_null() && size > 0 {
            let text = outcome
                .as_ref()
                .err()
                .map_or(String::new(), |problem| format!("{:?}", problem.result));
            let count = text.len().min(size - 1);
            core::ptr::copy_nonoverlapping(text.as_ptr().cast(), log, count);
            log.add(count).write(0);
        }
        if let (Err(problem), false) = (&outcome, error_node.is_null()) {
            error_node.write(problem.node as CUgraphNode);
        }
        outcome.map(drop).map_err(|problem| problem.code)
    }
}

/// Updates an executable graph; why it is refused, if it is.
fn update(exec: CUgraphExec, graph: CUgraph) -> Result<Option<Refusal>> {
    let (exec, graph) = (EXECS.get(exec)?, GRAPHS.get(graph)?);
    Ok(exec.update(&graph).err())
}

fn outcome_of(refusal: &Option<Refusal>) -> CUgraphExecUpdateResult {
    refusal.map_or(
        CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS,
        |refusal| refusal.outcome,
    )
}

fn check(refusal: &Option<Refusal>) -> Result {
    match refusal {
        None => Ok(()),
        Some(_) => Err(code::GRAPH_EXEC_UPDATE_FAILURE),
    }
}

/// Changes one node of an executable graph to what `make` makes of its present operation.
fn set(
    exec: CUgraphExec,
    node: CUgraphNode,
    make: impl FnOnce(&Operation) -> Result<Operation>,
) -> Result {
    EXECS.get(exec)?.set_operation(node as usize, make)
}
