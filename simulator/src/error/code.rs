//! The driver's error codes: short names for use inside, full names and descriptions for `cuGetErrorName` and `cuGetErrorString`.

use core::ffi::CStr;

use warpsmith_abi::CUresult;

macro_rules! codes {
    ($($short:ident = $full:ident: $text:literal,)*) => {
        $(#[allow(dead_code)] pub(crate) const $short: CUresult = CUresult::$full;)*

        /// Full name and description of a code.
        pub(crate) fn describe(code: CUresult) -> Option<(&'static CStr, &'static CStr)> {
            const fn c(text: &'static str) -> &'static CStr {
                match CStr::from_bytes_with_nul(text.as_bytes()) {
                    Ok(text) => text,
                    Err(_) => panic!("a name with an inner zero"),
                }
            }
            match code {
                CUresult::CUDA_SUCCESS => Some((c"CUDA_SUCCESS", c"no error")),
                $(CUresult::$full => {
                    Some((const { c(concat!(stringify!($full), "\0")) }, const { c(concat!($text, "\0")) }))
                })*
                _ => None,
            }
        }
    };
}

codes! {
    INVALID_VALUE = CUDA_ERROR_INVALID_VALUE: "invalid argument",
    OUT_OF_MEMORY = CUDA_ERROR_OUT_OF_MEMORY: "out of memory",
    NOT_INITIALIZED = CUDA_ERROR_NOT_INITIALIZED: "the driver has not been initialised: call cuInit first",
    DEINITIALIZED = CUDA_ERROR_DEINITIALIZED: "the driver is shutting down",
    PROFILER_DISABLED = CUDA_ERROR_PROFILER_DISABLED: "profiler disabled",
    PROFILER_NOT_INITIALIZED = CUDA_ERROR_PROFILER_NOT_INITIALIZED: "profiler not initialized",
    PROFILER_ALREADY_STARTED = CUDA_ERROR_PROFILER_ALREADY_STARTED: "profiler already started",
    PROFILER_ALREADY_STOPPED = CUDA_ERROR_PROFILER_ALREADY_STOPPED: "profiler already stopped",
    STUB_LIBRARY = CUDA_ERROR_STUB_LIBRARY: "the driver library is a stub",
    CALL_REQUIRES_NEWER_DRIVER = CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER: "call requires newer driver",
    DEVICE_UNAVAILABLE = CUDA_ERROR_DEVICE_UNAVAILABLE: "the device is busy or unavailable",
    MULTICAST_RESOURCE_FULL = CUDA_ERROR_MULTICAST_RESOURCE_FULL: "multicast resource full",
    NO_DEVICE = CUDA_ERROR_NO_DEVICE: "no CUDA-capable device is detected",
    INVALID_DEVICE = CUDA_ERROR_INVALID_DEVICE: "invalid device ordinal",
    DEVICE_NOT_LICENSED = CUDA_ERROR_DEVICE_NOT_LICENSED: "device not licensed",
    INVALID_IMAGE = CUDA_ERROR_INVALID_IMAGE: "the kernel image is invalid",
    INVALID_CONTEXT = CUDA_ERROR_INVALID_CONTEXT: "no valid context is current",
    CONTEXT_ALREADY_CURRENT = CUDA_ERROR_CONTEXT_ALREADY_CURRENT: "context already current",
    MAP_FAILED = CUDA_ERROR_MAP_FAILED: "mapping failed",
    UNMAP_FAILED = CUDA_ERROR_UNMAP_FAILED: "unmap failed",
    ARRAY_IS_MAPPED = CUDA_ERROR_ARRAY_IS_MAPPED: "the array is mapped",
    ALREADY_MAPPED = CUDA_ERROR_ALREADY_MAPPED: "the resource is already mapped",
    NO_BINARY_FOR_GPU = CUDA_ERROR_NO_BINARY_FOR_GPU: "no kernel image is available for this device",
    ALREADY_ACQUIRED = CUDA_ERROR_ALREADY_ACQUIRED: "already acquired",
    NOT_MAPPED = CUDA_ERROR_NOT_MAPPED: "not mapped",
    NOT_MAPPED_AS_ARRAY = CUDA_ERROR_NOT_MAPPED_AS_ARRAY: "not mapped as array",
    NOT_MAPPED_AS_POINTER = CUDA_ERROR_NOT_MAPPED_AS_POINTER: "not mapped as pointer",
    ECC_UNCORRECTABLE = CUDA_ERROR_ECC_UNCORRECTABLE: "ecc uncorrectable",
    UNSUPPORTED_LIMIT = CUDA_ERROR_UNSUPPORTED_LIMIT: "the device does not support this limit",
    CONTEXT_ALREADY_IN_USE = CUDA_ERROR_CONTEXT_ALREADY_IN_USE: "the context is already in use by another thread",
    PEER_ACCESS_UNSUPPORTED = CUDA_ERROR_PEER_ACCESS_UNSUPPORTED: "peer access is not supported between these devices",
    INVALID_PTX = CUDA_ERROR_INVALID_PTX: "the PTX text is invalid; see the JIT log",
    INVALID_GRAPHICS_CONTEXT = CUDA_ERROR_INVALID_GRAPHICS_CONTEXT: "invalid graphics context",
    NVLINK_UNCORRECTABLE = CUDA_ERROR_NVLINK_UNCORRECTABLE: "nvlink uncorrectable",
    JIT_COMPILER_NOT_FOUND = CUDA_ERROR_JIT_COMPILER_NOT_FOUND: "jit compiler not found",
    UNSUPPORTED_PTX_VERSION = CUDA_ERROR_UNSUPPORTED_PTX_VERSION: "the PTX version is newer than the driver",
    JIT_COMPILATION_DISABLED = CUDA_ERROR_JIT_COMPILATION_DISABLED: "JIT compilation is disabled by the environment",
    UNSUPPORTED_EXEC_AFFINITY = CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY: "unsupported exec affinity",
    UNSUPPORTED_DEVSIDE_SYNC = CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC: "unsupported devside sync",
    CONTAINED = CUDA_ERROR_CONTAINED: "contained",
    INSUFFICIENT_LOADER_VERSION = CUDA_ERROR_INSUFFICIENT_LOADER_VERSION: "insufficient loader version",
    INVALID_SOURCE = CUDA_ERROR_INVALID_SOURCE: "the source is invalid",
    FILE_NOT_FOUND = CUDA_ERROR_FILE_NOT_FOUND: "file not found",
    SHARED_OBJECT_SYMBOL_NOT_FOUND = CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND: "a symbol of a shared object was not found",
    SHARED_OBJECT_INIT_FAILED = CUDA_ERROR_SHARED_OBJECT_INIT_FAILED: "shared object init failed",
    OPERATING_SYSTEM = CUDA_ERROR_OPERATING_SYSTEM: "an operating system call failed",
    INVALID_HANDLE = CUDA_ERROR_INVALID_HANDLE: "invalid resource handle",
    ILLEGAL_STATE = CUDA_ERROR_ILLEGAL_STATE: "the object is in an illegal state for this call",
    LOSSY_QUERY = CUDA_ERROR_LOSSY_QUERY: "the query would drop information",
    NOT_FOUND = CUDA_ERROR_NOT_FOUND: "named symbol not found",
    NOT_READY = CUDA_ERROR_NOT_READY: "the work is not complete yet",
    ILLEGAL_ADDRESS = CUDA_ERROR_ILLEGAL_ADDRESS: "a kernel accessed an illegal address",
    LAUNCH_OUT_OF_RESOURCES = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: "the launch needs more resources than the device has",
    LAUNCH_TIMEOUT = CUDA_ERROR_LAUNCH_TIMEOUT: "the launch timed out",
    LAUNCH_INCOMPATIBLE_TEXTURING = CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING: "launch incompatible texturing",
    PEER_ACCESS_ALREADY_ENABLED = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED: "peer access is already enabled",
    PEER_ACCESS_NOT_ENABLED = CUDA_ERROR_PEER_ACCESS_NOT_ENABLED: "peer access is not enabled",
    PRIMARY_CONTEXT_ACTIVE = CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE: "the primary context is already active",
    CONTEXT_IS_DESTROYED = CUDA_ERROR_CONTEXT_IS_DESTROYED: "the context has been destroyed",
    ASSERT = CUDA_ERROR_ASSERT: "a device-side assertion failed",
    TOO_MANY_PEERS = CUDA_ERROR_TOO_MANY_PEERS: "too many peers",
    HOST_MEMORY_ALREADY_REGISTERED = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED: "the host memory is already registered",
    HOST_MEMORY_NOT_REGISTERED = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED: "the host memory is not registered",
    HARDWARE_STACK_ERROR = CUDA_ERROR_HARDWARE_STACK_ERROR: "the stack of a thread overflowed",
    ILLEGAL_INSTRUCTION = CUDA_ERROR_ILLEGAL_INSTRUCTION: "a kernel executed an illegal instruction",
    MISALIGNED_ADDRESS = CUDA_ERROR_MISALIGNED_ADDRESS: "a kernel accessed a misaligned address",
    INVALID_ADDRESS_SPACE = CUDA_ERROR_INVALID_ADDRESS_SPACE: "an instruction met an address of the wrong state space",
    INVALID_PC = CUDA_ERROR_INVALID_PC: "a kernel jumped to an invalid address",
    LAUNCH_FAILED = CUDA_ERROR_LAUNCH_FAILED: "a kernel failed",
    COOPERATIVE_LAUNCH_TOO_LARGE = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: "the cooperative grid does not fit the device at once",
    TENSOR_MEMORY_LEAK = CUDA_ERROR_TENSOR_MEMORY_LEAK: "tensor memory leak",
    NOT_PERMITTED = CUDA_ERROR_NOT_PERMITTED: "the operation is not permitted here",
    NOT_SUPPORTED = CUDA_ERROR_NOT_SUPPORTED: "the operation is not supported",
    SYSTEM_NOT_READY = CUDA_ERROR_SYSTEM_NOT_READY: "system not ready",
    SYSTEM_DRIVER_MISMATCH = CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: "system driver mismatch",
    COMPAT_NOT_SUPPORTED_ON_DEVICE = CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: "compat not supported on device",
    MPS_CONNECTION_FAILED = CUDA_ERROR_MPS_CONNECTION_FAILED: "mps connection failed",
    MPS_RPC_FAILURE = CUDA_ERROR_MPS_RPC_FAILURE: "mps rpc failure",
    MPS_SERVER_NOT_READY = CUDA_ERROR_MPS_SERVER_NOT_READY: "mps server not ready",
    MPS_MAX_CLIENTS_REACHED = CUDA_ERROR_MPS_MAX_CLIENTS_REACHED: "mps max clients reached",
    MPS_MAX_CONNECTIONS_REACHED = CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED: "mps max connections reached",
    MPS_CLIENT_TERMINATED = CUDA_ERROR_MPS_CLIENT_TERMINATED: "mps client terminated",
    CDP_NOT_SUPPORTED = CUDA_ERROR_CDP_NOT_SUPPORTED: "cdp not supported",
    CDP_VERSION_MISMATCH = CUDA_ERROR_CDP_VERSION_MISMATCH: "cdp version mismatch",
    STREAM_CAPTURE_UNSUPPORTED = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: "the operation is not permitted while a stream is capturing",
    STREAM_CAPTURE_INVALIDATED = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED: "the capture was invalidated by an earlier error",
    STREAM_CAPTURE_MERGE = CUDA_ERROR_STREAM_CAPTURE_MERGE: "the operation would merge two captures",
    STREAM_CAPTURE_UNMATCHED = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED: "the capture did not begin in this stream",
    STREAM_CAPTURE_UNJOINED = CUDA_ERROR_STREAM_CAPTURE_UNJOINED: "a stream was forked off the capture and never joined back",
    STREAM_CAPTURE_ISOLATION = CUDA_ERROR_STREAM_CAPTURE_ISOLATION: "a dependency would cross the border of the capture",
    STREAM_CAPTURE_IMPLICIT = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: "the operation depends on the legacy stream while a blocking stream is capturing",
    CAPTURED_EVENT = CUDA_ERROR_CAPTURED_EVENT: "the event was recorded in a capturing stream",
    STREAM_CAPTURE_WRONG_THREAD = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD: "the capture began on another thread",
    TIMEOUT = CUDA_ERROR_TIMEOUT: "the wait timed out",
    GRAPH_EXEC_UPDATE_FAILURE = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE: "the executable graph cannot be updated this way",
    EXTERNAL_DEVICE = CUDA_ERROR_EXTERNAL_DEVICE: "external device",
    INVALID_CLUSTER_SIZE = CUDA_ERROR_INVALID_CLUSTER_SIZE: "the cluster size is invalid",
    FUNCTION_NOT_LOADED = CUDA_ERROR_FUNCTION_NOT_LOADED: "the function is not loaded",
    INVALID_RESOURCE_TYPE = CUDA_ERROR_INVALID_RESOURCE_TYPE: "the resource has the wrong type",
    INVALID_RESOURCE_CONFIGURATION = CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION: "the resource configuration is invalid",
    KEY_ROTATION = CUDA_ERROR_KEY_ROTATION: "key rotation",
    STREAM_DETACHED = CUDA_ERROR_STREAM_DETACHED: "stream detached",
    GRAPH_RECAPTURE_FAILURE = CUDA_ERROR_GRAPH_RECAPTURE_FAILURE: "graph recapture failure",
    FABRIC_NOT_READY = CUDA_ERROR_FABRIC_NOT_READY: "fabric not ready",
    UNKNOWN = CUDA_ERROR_UNKNOWN: "unknown error",
}
