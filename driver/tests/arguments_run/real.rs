//! What a real driver does otherwise than the simulator, as measured: NVIDIA H100 80GB HBM3, driver 580.159.04.
//!
//! The simulator refuses what it can tell to be a mistake, also where a driver takes it: no context, an ended one, or nowhere to write to.

use crate::codes::{
    INVALID_CONTEXT, INVALID_HANDLE, INVALID_VALUE, NOT_FOUND, NOT_SUPPORTED, SUCCESS,
};

/// The driver's own answers, by rows. A name that ends with `*` stands for all that begin so.
const ANSWERS: &[(&str, u32)] = &[
    ("cuDeviceGetName len Negative", SUCCESS),
    ("cuDeviceGetExecAffinitySupport type_ Unknown", SUCCESS),
    ("cuCtxGetDevice_v2 ctx Null", SUCCESS),
    ("cuCtxGetFlags - EndedContext", SUCCESS),
    ("cuCtxSynchronize_v2 ctx Null", SUCCESS),
    ("cuCtxRecordEvent - Right", SUCCESS),
    ("cuCtxRecordEvent - NoContext", SUCCESS),
    ("cuCtxRecordEvent - EndedContext", SUCCESS),
    ("cuCtxRecordEvent hCtx Null", INVALID_CONTEXT),
    ("cuCtxRecordEvent hEvent Null", INVALID_HANDLE),
    ("cuCtxRecordEvent hEvent OtherContext", INVALID_HANDLE),
    ("cuCtxRecordEvent hEvent OtherDevice", INVALID_HANDLE),
    ("cuCtxWaitEvent - Right", SUCCESS),
    ("cuCtxWaitEvent - NoContext", SUCCESS),
    ("cuCtxWaitEvent - EndedContext", SUCCESS),
    ("cuCtxWaitEvent hCtx Null", INVALID_CONTEXT),
    ("cuCtxWaitEvent hEvent Null", INVALID_HANDLE),
    ("cuCtxWaitEvent hEvent OtherContext", SUCCESS),
    ("cuCtxWaitEvent hEvent OtherDevice", SUCCESS),
    ("cuEventElapsedTime pMilliseconds Null", INVALID_HANDLE),
    ("cuEventElapsedTime_v2 pMilliseconds Null", INVALID_HANDLE),
    // The words are memory of the other device.
    ("cuStreamWaitValue32_v2 stream OtherDevice", INVALID_VALUE),
    ("cuStreamWaitValue64_v2 stream OtherDevice", INVALID_VALUE),
    ("cuStreamWriteValue32_v2 stream OtherDevice", INVALID_VALUE),
    ("cuStreamWriteValue64_v2 stream OtherDevice", INVALID_VALUE),
    ("cuStreamBatchMemOp_v2 stream OtherDevice", INVALID_VALUE),
    ("a kernel node of two kernels", SUCCESS),
    ("a launch with both lists of parameters", SUCCESS),
    ("more references than the graph has", SUCCESS),
    ("cuGraphExecUpdate hErrorNode_out Null", SUCCESS),
    ("cuGraphExecUpdate updateResult_out Null", SUCCESS),
    ("cuGraphExecUpdate_v2 resultInfo Null", SUCCESS),
    ("cuFuncGetAttribute - NoContext", SUCCESS),
    ("cuFuncGetAttribute - EndedContext", SUCCESS),
    ("cuFuncSetAttribute - NoContext", SUCCESS),
    ("cuFuncSetAttribute - EndedContext", SUCCESS),
    ("cuOccupancyMaxPotentialClusterSize - NoContext", SUCCESS),
    ("cuOccupancyMaxPotentialClusterSize - EndedContext", SUCCESS),
    ("cuOccupancyMaxActiveClusters - NoContext", SUCCESS),
    ("cuOccupancyMaxActiveClusters - EndedContext", SUCCESS),
    ("cuUserObjectCreate initialRefcount TooLarge", SUCCESS),
    ("cuLaunchCooperativeKernelMultiDevice - Right", SUCCESS),
    ("cuLaunchCooperativeKernelMultiDevice - NoContext", SUCCESS),
    (
        "cuLaunchCooperativeKernelMultiDevice - EndedContext",
        SUCCESS,
    ),
    (
        "cuLaunchCooperativeKernelMultiDevice launchParamsList Null",
        INVALID_VALUE,
    ),
    (
        "cuLaunchCooperativeKernelMultiDevice flags Unknown",
        INVALID_VALUE,
    ),
    ("cuModuleUnload - NoContext", SUCCESS),
    ("cuModuleUnload - EndedContext", SUCCESS),
    ("cuModuleGetFunction - NoContext", SUCCESS),
    ("cuModuleGetFunction - EndedContext", SUCCESS),
    ("cuModuleEnumerateFunctions - NoContext", SUCCESS),
    ("cuModuleEnumerateFunctions - EndedContext", SUCCESS),
    ("cuModuleGetGlobal_v2 - NoContext", SUCCESS),
    ("cuModuleGetGlobal_v2 - EndedContext", SUCCESS),
    ("cuLibraryGetManaged - NoContext", NOT_FOUND),
    ("cuLibraryGetManaged - EndedContext", NOT_FOUND),
    ("cuLibraryGetUnifiedFunction - Right", INVALID_VALUE),
    ("cuLibraryGetUnifiedFunction - NoContext", INVALID_VALUE),
    ("cuLibraryGetUnifiedFunction - EndedContext", INVALID_VALUE),
    ("cuGraphAddMemAllocNode - NoContext", SUCCESS),
    ("cuGraphAddMemAllocNode - EndedContext", SUCCESS),
    ("cuGraphBatchMemOpNodeGetParams - NoContext", SUCCESS),
    ("cuGraphBatchMemOpNodeGetParams - EndedContext", SUCCESS),
    ("cuStreamGetCtx_v2 pCtx Null", SUCCESS),
    ("cuStreamGetCtx_v2 pGreenCtx Null", SUCCESS),
    ("cuStreamBatchMemOp_v2 count Zero", SUCCESS),
    ("cuStreamEndCapture phGraph Null", SUCCESS),
    // Newer than the driver.
    ("cuFuncGetParamCount *", NOT_SUPPORTED),
];

/// Rows in which the driver follows an argument without a look at it.
const ENDS_THE_PROCESS: &[&str] = &[
    "a graph in itself",
    "cuGetErrorName pStr Null",
    "cuGetErrorString pStr Null",
    "cuGetProcAddress symbol Null",
    "cuGetProcAddress pfn Null",
    "cuGetProcAddress_v2 symbol Null",
    "cuGetProcAddress_v2 pfn Null",
    "cuDeviceGetName len Zero",
    "cuCtxSetFlags - EndedContext",
    "cuGraphExecKernelNodeSetParams - NoContext",
    "cuGraphExecKernelNodeSetParams_v2 - NoContext",
    "cuFuncSetAttribute attrib Unknown",
    "cuOccupancyAvailableDynamicSMemPerBlock dynamicSmemSize Null",
    "cuModuleGetLoadingMode mode Null",
    "cuGraphAddKernelNode - NoContext",
    "cuGraphAddKernelNode_v2 - NoContext",
    "cuGraphKernelNodeSetParams - NoContext",
    "cuGraphKernelNodeSetParams_v2 - NoContext",
    "cuGraphKernelNodeGetAttribute value_out Null",
    "cuGraphKernelNodeSetAttribute value Null",
    "cuStreamGetAttribute value Null",
    "cuStreamSetAttribute param Null",
    "cuStreamBatchMemOp_v2 paramArray Null",
    "cuThreadExchangeStreamCaptureMode mode Null",
];

/// Rows whose answer is another where the only device is its own peer: see `particular`.
const OF_TWO_DEVICES: &[&str] = &[
    "cuCtxDisablePeerAccess - Right",
    "cuCtxEnablePeerAccess - Right",
    "cuDeviceGetP2PAttribute - EndedContext",
    "cuDeviceGetP2PAttribute - NoContext",
    "cuDeviceGetP2PAttribute - Right",
    "cuDeviceGetP2PAttribute attrib Unknown",
];

/// Whether a name of the tables stands for a row.
pub fn is_of(name: &str, row: &str) -> bool {
    match name.strip_suffix('*') {
        Some(prefix) => row.starts_with(prefix),
        None => row == name,
    }
}

/// The driver's answer to a row, where it is not the simulator's.
pub fn answer(row: &str) -> Option<u32> {
    let found = ANSWERS.iter().find(|(name, _)| is_of(name, row));
    found.map(|&(_, answer)| answer)
}

/// Whether a row cannot be asked of the driver.
pub fn ends_the_process(row: &str) -> bool {
    ENDS_THE_PROCESS.contains(&row)
}

/// Whether a row needs a second device.
pub fn needs_two_devices(row: &str) -> bool {
    OF_TWO_DEVICES.contains(&row)
}

/// Every name in the tables.
pub fn names() -> impl Iterator<Item = &'static str> {
    let answers = ANSWERS.iter().map(|&(name, _)| name);
    let others = ENDS_THE_PROCESS.iter().chain(OF_TWO_DEVICES).copied();
    answers.chain(others)
}
