//! The attributes of a function.

use core::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

use super::function::Function;
use super::occupancy::{max_threads, registers};
use crate::device;
use crate::error::{Result, code};
use warpsmith_abi::{CUdevice_attribute, CUfunction_attribute as Attribute};

/// `cuFuncGetAttribute`
pub(crate) fn attribute(function: &Function, attribute: Attribute) -> Result<c_int> {
    let kernel = &function.kernel;
    Ok(match attribute {
        // An exact block size is no bound in this sense, as measured.
        Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK if kernel.exact_threads => {
            device::profile(function.device)
                .limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
                as c_int
        }
        Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => max_threads(function) as c_int,
        Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => kernel.static_shared as c_int,
        Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => kernel.constant_bytes as c_int,
        Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => kernel.local_bytes as c_int,
        Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS => registers(function) as c_int,
        Attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION => function.target as c_int,
        Attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION => {
            let (major, minor) = device::compute_capability(function.device);
            (major * 10 + minor) as c_int
        }
        Attribute::CU_FUNC_ATTRIBUTE_CACHE_MODE_CA => 0,
        Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            function.max_dynamic_shared.load(Relaxed)
        }
        Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
            function.carveout.load(Relaxed)
        }
        Attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET => 0,
        Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH => {
            function.required_cluster()[0] as c_int
        }
        Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT => {
            function.required_cluster()[1] as c_int
        }
        Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH => {
            function.required_cluster()[2] as c_int
        }
        Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => {
            function.non_portable_cluster.load(Relaxed)
        }
        Attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
            function.cluster_scheduling.load(Relaxed)
        }
        _ => return Err(code::INVALID_VALUE),
    })
}

/// `cuFuncSetAttribute`
pub(crate) fn set_attribute(function: &Function, attribute: Attribute, value: c_int) -> Result {
    match attribute {
        Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            let most = device::profile(function.device)
                .limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
            if value < 0 || value as u32 + function.kernel.static_shared > most {
                return Err(code::INVALID_VALUE);
            }
            function.max_dynamic_shared.store(value, Relaxed);
        }
        Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
            if !(-1..=100).contains(&value) {
                return Err(code::INVALID_VALUE);
            }
            function.carveout.store(value, Relaxed);
        }
        Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => {
            if !matches!(value, 0 | 1) {
                return Err(code::INVALID_VALUE);
            }
            function.non_portable_cluster.store(value, Relaxed);
        }
        Attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
            if !(0..=2).contains(&value) {
                return Err(code::INVALID_VALUE);
            }
            function.cluster_scheduling.store(value, Relaxed);
        }
        // A cluster size compiled into the kernel stays; one may be set where there is none.
        Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
        | Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT
        | Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH => {
            if function.kernel.cluster.is_some() || value < 0 {
                return Err(code::INVALID_VALUE);
            }
            let dimension = attribute.0 - Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH.0;
            function.set_required_cluster(dimension as usize, value as u32);
        }
        _ => return Err(code::INVALID_VALUE),
    }
    Ok(())
}
