//! Kernel nodes and their parameters.

use super::add::{add, replace};
use crate::api::entry::*;
use crate::api::launch::prepare;
use crate::context::{Context, current};
use crate::graph::NODES;
use crate::module::{FUNCTIONS, function_or_kernel};
use crate::streams::{Hints, Launch, LaunchRequest, LaunchShape, Operation, Signals};

driver_calls! {
    Ready fn cuGraphAddKernelNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1,
    ) {
        let operation = kernel(&extended(parameters(nodeParams)?), None)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphAddKernelNode_v2(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
    ) {
        let operation = kernel(parameters(nodeParams)?, None)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, operation)?;
    }

    Ready fn cuGraphKernelNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS_v1) {
        put(nodeParams, kernel_parameters(hNode)?)?;
    }

    Ready fn cuGraphKernelNodeGetParams_v2(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS) {
        let parameters = kernel_parameters(hNode)?;
        let context = FUNCTIONS.get(parameters.func).map_or(0, |function| function.context);
        put(nodeParams, CUDA_KERNEL_NODE_PARAMS { ctx: context as CUcontext, ..extended(&parameters) })?;
    }

    Ready fn cuGraphKernelNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1) {
        let node = NODES.get(hNode)?;
        replace(&node, kernel(&extended(parameters(nodeParams)?), node.single_operation().as_ref())?)?;
    }

    Ready fn cuGraphKernelNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) {
        let node = NODES.get(hNode)?;
        replace(&node, kernel(parameters(nodeParams)?, node.single_operation().as_ref())?)?;
    }
}

/// Parameters of the first version in the form of the second, which has fields at the end besides.
pub(in crate::api) fn extended(given: &CUDA_KERNEL_NODE_PARAMS_v1) -> CUDA_KERNEL_NODE_PARAMS {
    CUDA_KERNEL_NODE_PARAMS {
        func: given.func,
        gridDimX: given.gridDimX,
        gridDimY: given.gridDimY,
        gridDimZ: given.gridDimZ,
        blockDimX: given.blockDimX,
        blockDimY: given.blockDimY,
        blockDimZ: given.blockDimZ,
        sharedMemBytes: given.sharedMemBytes,
        kernelParams: given.kernelParams,
        extra: given.extra,
        ..Default::default()
    }
}

/// The operation that parameters describe. `old` is what the node did before.
///
/// # Safety
///
/// The parameter pointers are valid.
pub(in crate::api) unsafe fn kernel(
    given: &CUDA_KERNEL_NODE_PARAMS,
    old: Option<&Operation>,
) -> Result<Operation> {
    let handle = match (given.func.is_null(), given.kern.is_null()) {
        (false, true) => given.func,
        (true, false) => given.kern.cast(),
        (true, true) => return Err(code::INVALID_HANDLE),
        (false, false) => return Err(code::INVALID_VALUE),
    };
    let context = || match given.ctx.is_null() {
        true => current(),
        false => Context::of_handle(given.ctx),
    };
    let function = function_or_kernel(handle, context)?;
    // A cluster or cooperative attribute set on the node stays through an update. Clusters of one block are what a node has without one.
    let (cluster, cooperative) = match old {
        Some(Operation::Kernel(old)) if old.function.kernel.cluster.is_none() => {
            let set = Some(old.shape.cluster).filter(|&size| size != [1; 3]);
            (set.unwrap_or_default(), old.shape.cooperative)
        }
        _ => ([0; 3], false),
    };
    let (priority, hints) = match old {
        Some(Operation::Kernel(old)) => (old.shape.priority, old.hints),
        _ => (None, Hints::default()),
    };
    let shape = LaunchShape {
        grid: [given.gridDimX, given.gridDimY, given.gridDimZ],
        block: [given.blockDimX, given.blockDimY, given.blockDimZ],
        dynamic_shared: given.sharedMemBytes,
        cluster,
        cooperative,
        priority,
    };
    let request = LaunchRequest {
        shape,
        hints,
        signals: Signals::default(),
    };
    // SAFETY: the parameter pointers are valid by the caller's contract.
    Ok(Operation::Kernel(unsafe {
        prepare(function, &request, given.kernelParams, given.extra)
    }?))
}

/// A kernel node's parameters; what its pointers refer to stays valid until this thread asks again.
fn kernel_parameters(node: CUgraphNode) -> Result<CUDA_KERNEL_NODE_PARAMS_v1> {
    use std::cell::RefCell;
    thread_local! {
        static LENT: RefCell<(Option<Launch>, Vec<*mut c_void>)> = const { RefCell::new((None, Vec::new())) };
    }
    let Some(Operation::Kernel(launch)) = NODES.get(node)?.single_operation() else {
        return Err(code::INVALID_VALUE);
    };
    let base = launch.parameters.as_ptr();
    let offsets = launch
        .function
        .kernel
        .parameters
        .iter()
        .map(|parameter| parameter.offset as usize);
    let mut pointers: Vec<*mut c_void> = offsets
        .map(|offset| base.wrapping_add(offset).cast_mut().cast())
        .collect();
    let parameters = CUDA_KERNEL_NODE_PARAMS_v1 {
        func: launch.function.handle as CUfunction,
        gridDimX: launch.shape.grid[0],
        gridDimY: launch.shape.grid[1],
        gridDimZ: launch.shape.grid[2],
        blockDimX: launch.shape.block[0],
        blockDimY: launch.shape.block[1],
        blockDimZ: launch.shape.block[2],
        sharedMemBytes: launch.shape.dynamic_shared,
        kernelParams: if pointers.is_empty() {
            core::ptr::null_mut()
        } else {
            pointers.as_mut_ptr()
        },
        extra: core::ptr::null_mut(),
    };
    LENT.set((Some(launch), pointers));
    Ok(parameters)
}
