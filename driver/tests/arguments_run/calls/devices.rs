//! Initialisation, devices, contexts, peers, errors' names, and the lookup of functions.

use crate::common::*;
use crate::table::calls;
use crate::world::*;

/// The other device, or where there is none, the only one.
fn peer(w: &World) -> CUcontext {
    w.far.as_ref().map_or(w.other.context, |far| far.context)
}

fn last_device(w: &World) -> CUdevice {
    w.far.is_some().into()
}

/// A context for one call.
fn context(w: &World) -> CUcontext {
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    ok!(cuCtxSetCurrent(w.own.context));
    context
}

/// Holds the first device's primary context once more.
fn retained() -> CUdevice {
    let _: CUcontext = get!(cuDevicePrimaryCtxRetain(0));
    0
}

/// The current context once more.
fn pushed<T>(w: &World, result: T) -> T {
    ok!(cuCtxPushCurrent_v2(w.own.context));
    result
}

/// The same, whose memory the current context reaches.
fn enabled_peer(w: &World) -> CUcontext {
    let peer = peer(w);
    // SAFETY: both contexts live; access that is enabled already stays so.
    let _ = unsafe { cuCtxEnablePeerAccess(peer, 0) };
    peer
}

fn bus_address() -> *const c_char {
    let text = out();
    ok!(cuDeviceGetPCIBusId(text, 13, 0));
    text
}

calls! { w:
    cuInit(0) 0;
    cuDriverGetVersion(out()) 0;
    cuGetErrorName(CUresult::CUDA_ERROR_INVALID_VALUE, out()) 0;
    cuGetErrorString(CUresult::CUDA_ERROR_INVALID_VALUE, out()) 0;
    cuGetProcAddress(c"cuInit".as_ptr(), out(), 12000, 0) 0;
    cuGetProcAddress_v2(c"cuInit".as_ptr(), out(), 12000, 0, out()) 0;
    cuDeviceGetCount(out()) 0;
    cuDeviceGet(out(), 0) 0;
    cuDeviceGetName(out(), 100, 0) 0;
    cuDeviceGetAttribute(out(), CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0) 0;
    cuDeviceTotalMem_v2(out(), 0) 0;
    cuDeviceGetUuid(out(), 0) 0;
    cuDeviceGetUuid_v2(out(), 0) 0;
    cuDeviceComputeCapability(out(), out(), 0) 0;
    cuDeviceGetProperties(out(), 0) 0;
    cuDeviceGetPCIBusId(out(), 13, 0) 0;
    cuDeviceGetByPCIBusId(out(), bus_address()) 0;
    cuDeviceGetExecAffinitySupport(out(), CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0) 0;
    cuDeviceCanAccessPeer(out(), 0, last_device(w)) 0;
    cuDeviceGetP2PAttribute(
        out(), CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, last_device(w)
    ) 0;
    cuDeviceGraphMemTrim(0) 0;
    cuDeviceGetGraphMemAttribute(0, CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, out()) 0;
    cuDeviceSetGraphMemAttribute(0, CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, slot(0u64).cast()) 0;
    cuDevicePrimaryCtxRetain(out(), 0) 0;
    cuDevicePrimaryCtxRelease_v2(retained()) 0;
    cuDevicePrimaryCtxReset_v2(0) 0;
    cuDevicePrimaryCtxSetFlags_v2(0, 0) 0;
    cuDevicePrimaryCtxGetState(0, out(), out()) 0;
    cuCtxCreate_v2(out(), 0, 0) 0;
    cuCtxCreate_v3(out(), null_mut(), 0, 0, 0) 0;
    cuCtxCreate_v4(out(), null_mut(), 0, 0) 0;
    cuCtxDestroy_v2(context(w)) 0;
    cuCtxPushCurrent_v2(w.own.context) 0;
    cuCtxPopCurrent_v2(pushed(w, out())) 0;
    cuCtxSetCurrent(w.own.context) 0;
    cuCtxGetCurrent(out()) 0;
    cuCtxGetDevice(out()) 0;
    cuCtxGetDevice_v2(out(), w.own.context) 0;
    cuCtxGetFlags(out()) 0;
    cuCtxSetFlags(0) 0;
    cuCtxGetId(w.own.context, out()) 0;
    cuCtxGetApiVersion(w.own.context, out()) 0;
    cuCtxGetExecAffinity(out(), CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT) 0;
    cuCtxGetLimit(out(), CUlimit::CU_LIMIT_STACK_SIZE) 0;
    cuCtxSetLimit(CUlimit::CU_LIMIT_STACK_SIZE, 1024) 0;
    cuCtxGetCacheConfig(out()) 0;
    cuCtxSetCacheConfig(CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE) 0;
    cuCtxGetSharedMemConfig(out()) 0;
    cuCtxSetSharedMemConfig(CUsharedconfig::CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE) 0;
    cuCtxGetStreamPriorityRange(out(), out()) 0;
    cuCtxResetPersistingL2Cache() 0;
    cuProfilerStart() 0;
    cuProfilerStop() 0;
    cuCtxSynchronize() 0;
    cuCtxSynchronize_v2(w.own.context) 0;
    cuCtxRecordEvent(w.own.context, w.own.event) 801;
    cuCtxWaitEvent(w.own.context, w.own.event) 801;
    cuCtxEnablePeerAccess(peer(w), 0) 0;
    cuCtxDisablePeerAccess(enabled_peer(w)) 0;
}
