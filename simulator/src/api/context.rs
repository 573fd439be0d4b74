//! Contexts: primary and created ones, each thread's stack, limits.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::device::index;
use super::entry::*;
use crate::context::{self, CONTEXTS, Context, current, current_unchecked};
use crate::device;
use crate::sync::lock;

const SCHEDULING: c_uint = 7;
const KNOWN_FLAGS: c_uint = 0xff;

driver_calls! {
    Ready fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice) {
        let context = context::primary(index(dev)?)?;
        if pctx.is_null() {
            return Err(code::INVALID_VALUE);
        }
        context.retain();
        pctx.write(context.handle as CUcontext);
    }

    Ready fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice) {
        context::primary(index(dev)?)?.release()?;
    }

    Ready fn cuDevicePrimaryCtxReset_v2(dev: CUdevice) {
        context::primary(index(dev)?)?.reset("cuDevicePrimaryCtxReset");
    }

    Ready fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint) {
        let context = context::primary(index(dev)?)?;
        check_flags(flags)?;
        context.flags.store(flags, Relaxed);
    }

    Ready fn cuDevicePrimaryCtxGetState(dev: CUdevice, flags: *mut c_uint, active: *mut c_int) {
        let context = context::primary(index(dev)?)?;
        put(flags, context.flags.load(Relaxed))?;
        put(active, c_int::from(context.is_alive()))?;
    }

    Ready fn cuCtxCreate_v2(pctx: *mut CUcontext, flags: c_uint, dev: CUdevice) {
        create(pctx, flags, dev)?;
    }

    Ready fn cuCtxCreate_v3(
        pctx: *mut CUcontext, paramsArray: *mut CUexecAffinityParam, numParams: c_int, flags: c_uint, dev: CUdevice,
    ) {
        if !paramsArray.is_null() || numParams != 0 {
            return Err(code::UNSUPPORTED_EXEC_AFFINITY);
        }
        create(pctx, flags, dev)?;
    }

    Ready fn cuCtxCreate_v4(pctx: *mut CUcontext, ctxCreateParams: *mut CUctxCreateParams, flags: c_uint, dev: CUdevice) {
        if !ctxCreateParams.is_null() {
            return Err(code::NOT_SUPPORTED);
        }
        create(pctx, flags, dev)?;
    }

    Ready fn cuCtxDestroy_v2(ctx: CUcontext) {
        let context = Context::of_handle(not_null(ctx)?)?;
        if context.is_primary {
            return Err(code::INVALID_CONTEXT);
        }
        CONTEXTS.remove(ctx).map_err(|_| code::INVALID_CONTEXT)?;
        context.destroy();
        if current_unchecked().is_some_and(|top| Arc::ptr_eq(&top, &context)) {
            context::pop()?;
        }
    }

    Ready fn cuCtxPushCurrent_v2(ctx: CUcontext) {
        context::push(Context::of_handle(not_null(ctx)?)?);
    }

    Ready fn cuCtxPopCurrent_v2(pctx: *mut CUcontext) {
        let context = context::pop()?;
        if !pctx.is_null() {
            pctx.write(context.handle as CUcontext);
        }
    }

    Ready fn cuCtxSetCurrent(ctx: CUcontext) {
        context::set_current(if ctx.is_null() { None } else { Some(Context::of_handle(ctx)?) });
    }

    Ready fn cuCtxGetCurrent(pctx: *mut CUcontext) {
        put(pctx, current_unchecked().map_or(core::ptr::null_mut(), |context| context.handle as CUcontext))?;
    }

    Ready fn cuCtxGetDevice(device: *mut CUdevice) {
        let context = current_unchecked().ok_or(code::INVALID_CONTEXT)?;
        put(device, context.device as CUdevice)?;
    }

    Ready fn cuCtxGetDevice_v2(device: *mut CUdevice, ctx: CUcontext) {
        put(device, Context::of_handle(ctx)?.device as CUdevice)?;
    }

    Ready fn cuCtxGetFlags(flags: *mut c_uint) {
        put(flags, current()?.flags.load(Relaxed))?;
    }

    Ready fn cuCtxSetFlags(flags: c_uint) {
        let context = current()?;
        check_flags(flags)?;
        context.flags.store(flags, Relaxed);
    }

    Ready fn cuCtxGetId(ctx: CUcontext, ctxId: *mut c_ulonglong) {
        let context = if ctx.is_null() { current()? } else { Context::of_handle(ctx)? };
        put(ctxId, context.id())?;
    }

    Ready fn cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint) {
        if !ctx.is_null() {
            Context::of_handle(ctx)?;
        } else {
            current()?;
        }
        put(version, 3020)?;
    }

    Ready fn cuCtxGetExecAffinity(pExecAffinity: *mut CUexecAffinityParam, type_: CUexecAffinityType) {
        if type_ != CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT {
            return Err(code::UNSUPPORTED_EXEC_AFFINITY);
        }
        // No context here has fewer multiprocessors than its device.
        let all = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let val = device::profile(current()?.device).limit(all);
        let param = CUexecAffinityParam_st__bindgen_ty_1 { smCount: CUexecAffinitySmCount { val } };
        put(pExecAffinity, CUexecAffinityParam { type_, param })?;
    }

    Ready fn cuCtxGetLimit(pvalue: *mut usize, limit: CUlimit) {
        let context = current()?;
        let limits = *lock(&context.limits);
        let value = match limit {
            CUlimit::CU_LIMIT_STACK_SIZE => limits.stack,
            CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE => limits.printf_fifo,
            CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE => limits.malloc_heap,
            CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT => limits.pending_launches,
            CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY => limits.max_l2_fetch,
            CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE => limits.persisting_l2,
            CUlimit::CU_LIMIT_SHMEM_SIZE => device::profile(context.device).shared_memory_limit,
            CUlimit::CU_LIMIT_CIG_ENABLED => 0,
            limit => return Err(refusal_of(limit)),
        };
        put(pvalue, value)?;
    }

    Ready fn cuCtxSetLimit(limit: CUlimit, value: usize) {
        let context = current()?;
        let mut limits = lock(&context.limits);
        match limit {
            // A thread's local memory ends at 512 KiB.
            CUlimit::CU_LIMIT_STACK_SIZE if value > 512 << 10 => return Err(code::INVALID_VALUE),
            CUlimit::CU_LIMIT_STACK_SIZE => limits.stack = value.next_multiple_of(16),
            CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE => limits.printf_fifo = value.max(4096),
            CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE => limits.malloc_heap = value,
            CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT => limits.pending_launches = value,
            CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY => limits.max_l2_fetch = value.min(128),
            CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE => {
                let most = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE;
                if value > device::profile(context.device).limit(most) as usize {
                    return Err(code::INVALID_VALUE);
                }
                limits.persisting_l2 = value;
            }
            limit => return Err(refusal_of(limit)),
        }
    }

    Ready fn cuCtxGetStreamPriorityRange(leastPriority: *mut c_int, greatestPriority: *mut c_int) {
        let (least, greatest) = device::profile(current()?.device).priorities;
        if !leastPriority.is_null() {
            leastPriority.write(least);
        }
        if !greatestPriority.is_null() {
            greatestPriority.write(greatest);
        }
    }

    Ready fn cuCtxGetCacheConfig(pconfig: *mut CUfunc_cache) {
        put(pconfig, CUfunc_cache_enum(current()?.cache_config.load(Relaxed)))?;
    }

    Ready fn cuCtxSetCacheConfig(config: CUfunc_cache) {
        if config.0 > 3 {
            return Err(code::INVALID_VALUE);
        }
        current()?.cache_config.store(config.0, Relaxed);
    }

    Ready fn cuCtxGetSharedMemConfig(pConfig: *mut CUsharedconfig) {
        put(pConfig, CUsharedconfig_enum(current()?.shared_config.load(Relaxed)))?;
    }

    Ready fn cuCtxSetSharedMemConfig(config: CUsharedconfig) {
        if config.0 > 2 {
            return Err(code::INVALID_VALUE);
        }
        current()?.shared_config.store(config.0, Relaxed);
    }

    Ready fn cuCtxResetPersistingL2Cache() {
        current()?;
    }
}

/// The answer to a limit that the device has not, or that is none.
fn refusal_of(limit: CUlimit) -> CUresult {
    if limit.0 > CUlimit::CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED.0 {
        code::INVALID_VALUE
    } else {
        code::UNSUPPORTED_LIMIT
    }
}

fn check_flags(flags: c_uint) -> Result {
    let scheduling = flags & SCHEDULING;
    if flags & !KNOWN_FLAGS != 0 || !matches!(scheduling, 0 | 1 | 2 | 4) {
        return Err(code::INVALID_VALUE);
    }
    Ok(())
}

/// # Safety
///
/// `to` is null or valid for writing.
unsafe fn create(to: *mut CUcontext, flags: c_uint, device: CUdevice) -> Result {
    let device = index(device)?;
    check_flags(flags)?;
    if to.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let context = CONTEXTS.add(|handle| Context::created(handle, device, flags));
    // SAFETY: not null, so valid for writing by the caller's contract.
    unsafe { to.write(context.handle as CUcontext) };
    context::push(context);
    Ok(())
}
