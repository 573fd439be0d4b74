//! What the simulator answers to a wrong argument, and a real driver where `real` names no other answer.

use crate::codes::{
    CONTEXT_IS_DESTROYED, INVALID_CONTEXT, INVALID_DEVICE, INVALID_HANDLE, INVALID_VALUE,
    NOT_SUPPORTED,
};
use crate::table::Call;
use crate::wrong::Kind;

/// Where the answer is another than the one that follows from the type: function, parameter (`*` for each), what is wrong, answer. A
/// function's name that ends with `*` stands for all that begin so.
const PARTICULAR: &[(&str, &str, Kind, u32)] = {
    use Kind::*;
    &[
        // What may be left out.
        ("cuCtxCreate_v3", "paramsArray", Null, 0),
        ("cuCtxCreate_v4", "ctxCreateParams", Null, 0),
        ("cuCtxGetStreamPriorityRange", "*", Null, 0),
        ("cuCtxPopCurrent_v2", "pctx", Null, 0),
        ("cuFuncGetParamInfo", "paramSize", Null, 0),
        ("cuGetProcAddress_v2", "symbolStatus", Null, 0),
        ("cuGraphAddDependencies_v2", "edgeData", Null, 0),
        ("cuGraphAddNode_v2", "dependencyData", Null, 0),
        ("cuGraphGetEdges*", "edgeData", Null, 0),
        ("cuGraphGetNodes", "nodes", Null, 0),
        ("cuGraphGetRootNodes", "rootNodes", Null, 0),
        ("cuGraphInstantiate*", "logBuffer", Null, 0),
        ("cuGraphInstantiate*", "phErrorNode", Null, 0),
        ("cuGraphNodeGetDependencies", "dependencies", Null, 0),
        ("cuGraphNodeGetDependencies*", "edgeData", Null, 0),
        ("cuGraphNodeGetDependentNodes", "dependentNodes", Null, 0),
        ("cuGraphNodeGetDependentNodes*", "edgeData", Null, 0),
        ("cuGraphRemoveDependencies_v2", "edgeData", Null, 0),
        ("cuKernelGetParamInfo", "paramSize", Null, 0),
        ("cuLaunchHostFunc", "userData", Null, 0),
        ("cuLaunchKernel*", "extra", Null, 0),
        ("cuLibraryGetGlobal", "bytes", Null, 0),
        ("cuLibraryGetGlobal", "dptr", Null, 0),
        ("cuLibraryGetManaged", "bytes", Null, 500),
        ("cuLibraryGetManaged", "dptr", Null, 500),
        ("cuLibraryLoad*", "jitOptions", Null, 0),
        ("cuLibraryLoad*", "jitOptionsValues", Null, 0),
        ("cuLibraryLoad*", "libraryOptionValues", Null, 0),
        ("cuLibraryLoad*", "libraryOptions", Null, 0),
        ("cuLink*", "name", Null, 0),
        ("cuLink*", "optionValues", Null, 0),
        ("cuLink*", "options", Null, 0),
        ("cuLinkComplete", "sizeOut", Null, 0),
        ("cuModuleGetGlobal_v2", "bytes", Null, 0),
        ("cuModuleGetGlobal_v2", "dptr", Null, 0),
        ("cuModuleLoadDataEx", "optionValues", Null, 0),
        ("cuModuleLoadDataEx", "options", Null, 0),
        ("cuStreamAddCallback", "userData", Null, 0),
        ("cuStreamBeginCaptureToGraph", "dependencyData", Null, 0),
        ("cuStreamGetCaptureInfo_v2", "dependencies_out", Null, 0),
        ("cuStreamGetCaptureInfo*", "edgeData_out", Null, 0),
        ("cuStreamGetCaptureInfo*", "graph_out", Null, 0),
        ("cuStreamGetCaptureInfo*", "id_out", Null, 0),
        ("cuStreamGetCaptureInfo*", "numDependencies_out", Null, 0),
        (
            "cuStreamUpdateCaptureDependencies_v2",
            "dependencyData",
            Null,
            0,
        ),
        ("cuUserObjectCreate", "ptr", Null, 0),
        // No context means the current one, or none.
        ("cuCtxGetApiVersion", "ctx", Null, 0),
        ("cuCtxGetId", "ctx", Null, 0),
        ("cuCtxSetCurrent", "ctx", Null, 0),
        ("cuGraphAddMemcpyNode", "ctx", Null, 0),
        ("cuGraphAddMemsetNode", "ctx", Null, 0),
        ("cuGraphExecMemcpyNodeSetParams", "ctx", Null, 0),
        ("cuGraphExecMemsetNodeSetParams", "ctx", Null, 0),
        // A null handle is an invalid value here.
        ("cuCtxDestroy_v2", "ctx", Null, INVALID_VALUE),
        ("cuCtxPushCurrent_v2", "ctx", Null, INVALID_VALUE),
        ("cuFuncGetModule", "hfunc", Null, INVALID_VALUE),
        ("cuFuncGetName", "hfunc", Null, INVALID_VALUE),
        ("cuFuncGetParamInfo", "func", Null, INVALID_VALUE),
        ("cuGraphAddEvent*", "event", Null, INVALID_VALUE),
        ("cuGraphEvent*", "event", Null, INVALID_VALUE),
        ("cuGraphExecEvent*", "event", Null, INVALID_VALUE),
        ("cuGraphRetainUserObject", "object", Null, INVALID_VALUE),
        ("cuKernelGetName", "hfunc", Null, INVALID_VALUE),
        ("cuKernelGetParamInfo", "kernel", Null, INVALID_VALUE),
        ("cuOccupancyMaxActiveClusters", "func", Null, INVALID_VALUE),
        (
            "cuOccupancyMaxPotentialClusterSize",
            "func",
            Null,
            INVALID_VALUE,
        ),
        ("cuUserObjectRe*", "object", Null, INVALID_VALUE),
        // Numbers that are cut to what there is.
        ("cuFuncSetAttribute", "value", Negative, 0),
        ("cuKernelSetAttribute", "val", Negative, 0),
        (
            "cuOccupancyMaxActiveBlocksPerMultiprocessor*",
            "dynamicSMemSize",
            TooLarge,
            0,
        ),
        (
            "cuOccupancyMaxPotentialBlockSize*",
            "dynamicSMemSize",
            TooLarge,
            0,
        ),
        ("cuStreamCreateWithPriority", "priority", Negative, 0),
        ("cuStreamCreateWithPriority", "priority", TooLarge, 0),
        ("cuDeviceGet", "ordinal", Negative, INVALID_DEVICE),
        ("cuDeviceGet", "ordinal", TooLarge, INVALID_DEVICE),
        // Larger than any grid that fits the device.
        ("cuLaunchCooperativeKernel", "sharedMemBytes", TooLarge, 720),
        // Bits that mean nothing.
        ("cuGraphDebugDotPrint", "flags", Unknown, 0),
        ("cuCtxGetExecAffinity", "type_", Unknown, 224),
        // What belongs to one context is of no use in another.
        ("cuEventElapsedTime*", "*", OtherContext, INVALID_HANDLE),
        ("cuEventElapsedTime*", "*", OtherDevice, INVALID_HANDLE),
        ("cuEventRecord*", "*", OtherContext, INVALID_HANDLE),
        ("cuEventRecord*", "*", OtherDevice, INVALID_HANDLE),
        ("cuGraphExecEvent*", "event", OtherContext, INVALID_VALUE),
        ("cuGraphExecEvent*", "event", OtherDevice, INVALID_VALUE),
        // A graph is launched in a stream of any context.
        ("cuGraphLaunch", "hStream", OtherContext, 0),
        ("cuGraphLaunch", "hStream", OtherDevice, 0),
        (
            "cuLaunchCooperativeKernel",
            "*",
            OtherContext,
            INVALID_HANDLE,
        ),
        (
            "cuLaunchCooperativeKernel",
            "*",
            OtherDevice,
            INVALID_HANDLE,
        ),
        ("cuLaunchKernel*", "*", OtherContext, INVALID_HANDLE),
        ("cuLaunchKernel*", "*", OtherDevice, INVALID_HANDLE),
        (
            "cuOccupancyMaxActiveClusters",
            "func",
            OtherContext,
            INVALID_HANDLE,
        ),
        (
            "cuOccupancyMaxActiveClusters",
            "func",
            OtherDevice,
            INVALID_HANDLE,
        ),
        (
            "cuOccupancyMaxPotentialClusterSize",
            "func",
            OtherContext,
            INVALID_HANDLE,
        ),
        (
            "cuOccupancyMaxPotentialClusterSize",
            "func",
            OtherDevice,
            INVALID_HANDLE,
        ),
        ("cuStreamCopyAttributes", "*", OtherContext, 1),
        ("cuStreamCopyAttributes", "*", OtherDevice, 1),
        // Not an event for other processes.
        ("cuIpcGetEventHandle", "event", Null, 1),
        ("cuIpcGetEventHandle", "event", OtherContext, INVALID_HANDLE),
        ("cuIpcGetEventHandle", "event", OtherDevice, INVALID_HANDLE),
        // A context that was destroyed is still the thread's.
        ("cuCtxGetDevice", "-", NoContext, INVALID_CONTEXT),
        ("cuCtxPopCurrent_v2", "-", NoContext, INVALID_CONTEXT),
        // No context is as good as one that lives.
        (
            "cuGraphMemcpyNodeSetParams",
            "-",
            EndedContext,
            CONTEXT_IS_DESTROYED,
        ),
        (
            "cuGraphMemsetNodeSetParams",
            "-",
            EndedContext,
            CONTEXT_IS_DESTROYED,
        ),
        // Not capturing.
        ("cuStreamEndCapture", "hStream", OtherContext, 401),
        ("cuStreamEndCapture", "hStream", OtherDevice, 401),
        (
            "cuStreamUpdateCaptureDependencies*",
            "hStream",
            OtherContext,
            401,
        ),
        (
            "cuStreamUpdateCaptureDependencies*",
            "hStream",
            OtherDevice,
            401,
        ),
        // A node that is none of the graph's, whether or not it is one at all.
        ("cuGraphExec*", "hNode", Ended, 1),
        ("cuGraphExec*", "hNode", Alien, 1),
        ("cuGraphNodeFindInClone", "hOriginalNode", Alien, 1),
        ("cuGraphNodeFindInClone", "hOriginalNode", Ended, 1),
        ("cuGraphNodeGetEnabled", "hNode", Alien, 1),
        ("cuGraphNodeGetEnabled", "hNode", Ended, 1),
        ("cuGraphNodeSetEnabled", "hNode", Alien, 1),
        ("cuGraphNodeSetEnabled", "hNode", Ended, 1),
        // An object of which the graph has no references.
        ("cuGraphReleaseUserObject", "object", Alien, 1),
        ("cuGraphReleaseUserObject", "object", Ended, 1),
        ("cuGraphReleaseUserObject", "object", Null, 1),
        // For a node of whichever graph and type.
        ("cuGraphDestroyNode", "hNode", OtherGraph, 0),
        ("cuGraphDestroyNode", "hNode", OtherType, 0),
        ("cuGraphNodeGetDependencies*", "hNode", OtherGraph, 0),
        ("cuGraphNodeGetDependencies*", "hNode", OtherType, 0),
        ("cuGraphNodeGetDependentNodes*", "hNode", OtherGraph, 0),
        ("cuGraphNodeGetDependentNodes*", "hNode", OtherType, 0),
        ("cuGraphNodeGetType", "hNode", OtherGraph, 0),
        ("cuGraphNodeGetType", "hNode", OtherType, 0),
    ]
};

/// Functions that act on the current context, which must be there.
const OF_THE_CURRENT_CONTEXT: &[&str] = &[
    "cuCtxDisablePeerAccess",
    "cuCtxEnablePeerAccess",
    "cuCtxGetCacheConfig",
    "cuCtxGetExecAffinity",
    "cuCtxGetFlags",
    "cuCtxGetLimit",
    "cuCtxGetSharedMemConfig",
    "cuCtxGetStreamPriorityRange",
    "cuCtxResetPersistingL2Cache",
    "cuCtxSetCacheConfig",
    "cuCtxSetFlags",
    "cuCtxSetLimit",
    "cuCtxSetSharedMemConfig",
    "cuCtxSynchronize",
    "cuDestroyExternalSemaphore",
    "cuEventCreate",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuGraphAddMemAllocNode",
    "cuGraphBatchMemOpNodeGetParams",
    "cuGraphInstantiate",
    "cuGraphInstantiateWithFlags",
    "cuGraphInstantiateWithParams",
    "cuGraphInstantiate_v2",
    "cuImportExternalSemaphore",
    "cuIpcGetEventHandle",
    "cuIpcOpenEventHandle",
    "cuKernelGetFunction",
    "cuKernelGetParamInfo",
    "cuLibraryGetGlobal",
    "cuLibraryGetManaged",
    "cuLibraryGetModule",
    "cuLinkCreate_v2",
    "cuModuleEnumerateFunctions",
    "cuModuleGetFunction",
    "cuModuleGetGlobal_v2",
    "cuModuleLoad",
    "cuModuleLoadData",
    "cuModuleLoadDataEx",
    "cuModuleLoadFatBinary",
    "cuModuleUnload",
    "cuOccupancyAvailableDynamicSMemPerBlock",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cuOccupancyMaxActiveClusters",
    "cuOccupancyMaxPotentialBlockSize",
    "cuOccupancyMaxPotentialBlockSizeWithFlags",
    "cuOccupancyMaxPotentialClusterSize",
    "cuProfilerStart",
    "cuProfilerStop",
    "cuStreamCreate",
    "cuStreamCreateWithPriority",
];

/// What the driver no longer has.
const RETIRED: &[&str] = &[
    "cuStreamBatchMemOp",
    "cuStreamWaitValue32",
    "cuStreamWaitValue64",
    "cuStreamWriteValue32",
    "cuStreamWriteValue64",
];

/// The answer to a call with this argument wrong.
pub fn expected(call: &Call, parameter: &str, of: &str, kind: Kind) -> u32 {
    if call.answer == NOT_SUPPORTED {
        return match (RETIRED.contains(&call.name), of, kind) {
            // The stream is looked up first.
            (true, "CUstream", Kind::Ended | Kind::Alien) => INVALID_HANDLE,
            // So is the number of operations.
            (true, _, Kind::TooLarge) if parameter == "count" => INVALID_VALUE,
            _ => NOT_SUPPORTED,
        };
    }
    if OF_THE_CURRENT_CONTEXT.contains(&call.name) {
        match kind {
            Kind::NoContext => return INVALID_CONTEXT,
            Kind::EndedContext => return CONTEXT_IS_DESTROYED,
            _ => {}
        }
    }
    let found = PARTICULAR.iter().find(|(name, place, wrong, _)| {
        let is_named = match name.strip_suffix('*') {
            Some(prefix) => call.name.starts_with(prefix),
            None => call.name == *name,
        };
        is_named && matches!(*place, place if place == "*" || place == parameter) && *wrong == kind
    });
    match found {
        Some((.., answer)) => *answer,
        None => usual(of, kind, call.answer),
    }
}

fn usual(of: &str, kind: Kind, right: u32) -> u32 {
    match (of, kind) {
        (_, Kind::NoContext | Kind::EndedContext) => right,
        // The call is for no context in particular.
        (_, Kind::OtherContext | Kind::OtherDevice) => right,
        ("CUcontext", _) => INVALID_CONTEXT,
        ("CUgraph" | "CUgraphNode" | "CUgraphExec", Kind::Null) => INVALID_VALUE,
        ("CUdeviceptr", _) => INVALID_VALUE,
        ("CUdevice", _) => INVALID_DEVICE,
        (pointer, Kind::Null)
            if pointer.starts_with('*')
                || pointer == "CUhostFn"
                || pointer == "CUstreamCallback" =>
        {
            INVALID_VALUE
        }
        (_, Kind::Null | Kind::Ended | Kind::Alien) => INVALID_HANDLE,
        _ => INVALID_VALUE,
    }
}
