//! Which symbol stands behind a base name for a given CUDA version: data alone.

/// The first version of CUDA that had a driver interface.
pub(super) const FIRST: i32 = 2000;

/// Base name, and the symbols behind it with the version from which each is meant, oldest first. A name that is not listed is its own
/// only symbol, or its `_v2` form where there is one.
pub(super) const VERSIONS: &[(&str, &[(i32, &str)])] = &[
    (
        "cuCtxCreate",
        &[
            (3020, "cuCtxCreate_v2"),
            (11040, "cuCtxCreate_v3"),
            (12050, "cuCtxCreate_v4"),
        ],
    ),
    (
        "cuDeviceGetUuid",
        &[(9020, "cuDeviceGetUuid"), (11040, "cuDeviceGetUuid_v2")],
    ),
    (
        "cuEventElapsedTime",
        &[
            (2000, "cuEventElapsedTime"),
            (12080, "cuEventElapsedTime_v2"),
        ],
    ),
    (
        "cuGetProcAddress",
        &[(11030, "cuGetProcAddress"), (12000, "cuGetProcAddress_v2")],
    ),
    (
        "cuGraphAddDependencies",
        &[
            (10000, "cuGraphAddDependencies"),
            (12030, "cuGraphAddDependencies_v2"),
        ],
    ),
    (
        "cuGraphAddKernelNode",
        &[
            (10000, "cuGraphAddKernelNode"),
            (12000, "cuGraphAddKernelNode_v2"),
        ],
    ),
    (
        "cuGraphAddNode",
        &[(12020, "cuGraphAddNode"), (12030, "cuGraphAddNode_v2")],
    ),
    (
        "cuGraphConditionalHandleCreate",
        &[(12030, "cuGraphConditionalHandleCreate")],
    ),
    (
        "cuGraphExecKernelNodeSetParams",
        &[
            (10010, "cuGraphExecKernelNodeSetParams"),
            (12000, "cuGraphExecKernelNodeSetParams_v2"),
        ],
    ),
    (
        "cuGraphExecUpdate",
        &[
            (10020, "cuGraphExecUpdate"),
            (12000, "cuGraphExecUpdate_v2"),
        ],
    ),
    (
        "cuGraphGetEdges",
        &[(10000, "cuGraphGetEdges"), (12030, "cuGraphGetEdges_v2")],
    ),
    (
        "cuGraphInstantiate",
        &[
            (10000, "cuGraphInstantiate"),
            (11000, "cuGraphInstantiate_v2"),
            (12000, "cuGraphInstantiateWithFlags"),
        ],
    ),
    (
        "cuGraphKernelNodeGetParams",
        &[
            (10000, "cuGraphKernelNodeGetParams"),
            (12000, "cuGraphKernelNodeGetParams_v2"),
        ],
    ),
    (
        "cuGraphKernelNodeSetParams",
        &[
            (10000, "cuGraphKernelNodeSetParams"),
            (12000, "cuGraphKernelNodeSetParams_v2"),
        ],
    ),
    (
        "cuGraphNodeGetDependencies",
        &[
            (10000, "cuGraphNodeGetDependencies"),
            (12030, "cuGraphNodeGetDependencies_v2"),
        ],
    ),
    (
        "cuGraphNodeGetDependentNodes",
        &[
            (10000, "cuGraphNodeGetDependentNodes"),
            (12030, "cuGraphNodeGetDependentNodes_v2"),
        ],
    ),
    (
        "cuGraphRemoveDependencies",
        &[
            (10000, "cuGraphRemoveDependencies"),
            (12030, "cuGraphRemoveDependencies_v2"),
        ],
    ),
    ("cuLaunchKernelEx", &[(11060, "cuLaunchKernelEx")]),
    (
        "cuMemAdvise",
        &[(8000, "cuMemAdvise"), (12020, "cuMemAdvise_v2")],
    ),
    ("cuMemAllocAsync", &[(11020, "cuMemAllocAsync")]),
    ("cuMemFreeAsync", &[(11020, "cuMemFreeAsync")]),
    (
        "cuMemPrefetchAsync",
        &[
            (8000, "cuMemPrefetchAsync"),
            (12020, "cuMemPrefetchAsync_v2"),
        ],
    ),
    (
        "cuStreamBeginCapture",
        &[
            (10000, "cuStreamBeginCapture"),
            (10010, "cuStreamBeginCapture_v2"),
        ],
    ),
    (
        "cuStreamBeginCaptureToGraph",
        &[(12030, "cuStreamBeginCaptureToGraph")],
    ),
    (
        "cuStreamGetCaptureInfo",
        &[
            (10010, "cuStreamGetCaptureInfo"),
            (11030, "cuStreamGetCaptureInfo_v2"),
            (12030, "cuStreamGetCaptureInfo_v3"),
        ],
    ),
    (
        "cuStreamUpdateCaptureDependencies",
        &[
            (11030, "cuStreamUpdateCaptureDependencies"),
            (12030, "cuStreamUpdateCaptureDependencies_v2"),
        ],
    ),
    (
        "cuTensorMapEncodeTiled",
        &[(12000, "cuTensorMapEncodeTiled")],
    ),
];
