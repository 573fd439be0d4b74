//! Launches: what a grid may look like, and how its parameters come together.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::function::{max_threads, resident_blocks};
use super::*;
use crate::device;
use crate::module::Function;
use crate::state::registries;
use crate::streams::{self, HostCall, Launch, Operation};

type Limit = CUdevice_attribute;

driver_calls! {
    Ready fn cuLaunchKernel(
        f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint,
        blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) {
        let shape = Shape {
            grid: [gridDimX, gridDimY, gridDimZ],
            block: [blockDimX, blockDimY, blockDimZ],
            shared: sharedMemBytes,
            ..Shape::default()
        };
        launch(f, shape, hStream, kernelParams, extra)?;
    }

    Ready fn cuLaunchCooperativeKernel(
        f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint,
        blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void,
    ) {
        let shape = Shape {
            grid: [gridDimX, gridDimY, gridDimZ],
            block: [blockDimX, blockDimY, blockDimZ],
            shared: sharedMemBytes,
            cooperative: true,
            ..Shape::default()
        };
        launch(f, shape, hStream, kernelParams, core::ptr::null_mut())?;
    }

    Ready fn cuLaunchKernelEx(
        config: *const CUlaunchConfig, f: CUfunction, kernelParams: *mut *mut c_void, extra: *mut *mut c_void,
    ) {
        if config.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let shape = settings_of(&*config)?;
        launch(f, shape, (*config).hStream, kernelParams, extra)?;
    }

    Ready fn cuLaunchHostFunc(hStream: CUstream, r#fn: CUhostFn, userData: *mut c_void) {
        if r#fn.is_none() {
            return Err(code::INVALID_VALUE);
        }
        streams::find(hStream)?.perform(Operation::Host(HostCall { function: r#fn, data: userData }))?;
    }
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) cluster: [u32; 3],
    pub(super) shared: u32,
    pub(super) cooperative: bool,
}

/// The shape that a launch configuration with attributes describes.
///
/// # Safety
///
/// The attribute array is valid.
pub(super) unsafe fn settings_of(config: &CUlaunchConfig) -> Result<Shape> {
    let mut shape = Shape {
        grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
        block: [config.blockDimX, config.blockDimY, config.blockDimZ],
        shared: config.sharedMemBytes,
        ..Shape::default()
    };
    if config.numAttrs > 0 && config.attrs.is_null() {
        return Err(code::INVALID_VALUE);
    }
    for index in 0..config.numAttrs as usize {
        // SAFETY: the caller's contract.
        unsafe { apply(&mut shape, &*config.attrs.add(index)) }?;
    }
    Ok(shape)
}

/// Puts one attribute into a shape.
///
/// # Safety
///
/// The value is one of the attribute's type.
pub(super) unsafe fn apply(shape: &mut Shape, attribute: &CUlaunchAttribute) -> Result {
    match attribute.id {
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
            // SAFETY: the caller's contract.
            let size = unsafe { attribute.value.clusterDim };
            shape.cluster = [size.x, size.y, size.z];
            if shape.cluster.contains(&0) {
                return Err(code::INVALID_CLUSTER_SIZE);
            }
        }
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => {
            // SAFETY: the caller's contract.
            shape.cooperative = unsafe { attribute.value.cooperative } != 0;
        }
        // Hints, and permissions to overlap that need not be used.
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_IGNORE
        | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
        | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY
        | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
        | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY
        | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP
        | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN
        | CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {}
        _ => return Err(code::NOT_SUPPORTED),
    }
    Ok(())
}

/// Checks a shape against the device and the kernel, with the codes that the driver answers.
pub(super) fn check(function: &Function, shape: Shape) -> Result<Shape> {
    let device = device::profile(function.device);
    let kernel = &function.kernel;
    let within = |sizes: [u32; 3], limits: [Limit; 3]| {
        sizes
            .iter()
            .zip(limits)
            .all(|(&size, limit)| size > 0 && size <= device.limit(limit))
    };
    let grid = [
        Limit::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
        Limit::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
        Limit::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
    ];
    let block = [
        Limit::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
        Limit::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
        Limit::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
    ];
    let threads: u32 = shape.block.iter().map(|&size| size.min(4096)).product();
    if !within(shape.grid, grid)
        || !within(shape.block, block)
        || threads > device.limit(Limit::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    {
        return Err(code::INVALID_VALUE);
    }
    if let Some(bound) = kernel.max_threads {
        let exactly_wrong = kernel.exact_threads && bound != shape.block;
        if exactly_wrong || threads > bound.iter().product() {
            return Err(code::INVALID_VALUE);
        }
    } else if threads > max_threads(function) {
        return Err(code::LAUNCH_OUT_OF_RESOURCES);
    }
    if i64::from(shape.shared) > i64::from(function.max_dynamic_shared.load(Relaxed)) {
        return Err(code::INVALID_VALUE);
    }
    // A set size may leave dimensions open; those are 1.
    let required = function.required_cluster();
    let required = (required != [0; 3]).then(|| required.map(|size| size.max(1)));
    let cluster = match (required, shape.cluster) {
        (Some(fixed), [0, 0, 0]) => fixed,
        (Some(fixed), asked) if fixed != asked => return Err(code::INVALID_CLUSTER_SIZE),
        (_, [0, 0, 0]) => [1, 1, 1],
        (_, asked) => asked,
    };
    let size = cluster
        .iter()
        .try_fold(1u32, |all, &one| all.checked_mul(one))
        .filter(|&size| size > 0)
        .ok_or(code::INVALID_CLUSTER_SIZE)?;
    let most = if function.non_portable_cluster.load(Relaxed) != 0 {
        16
    } else {
        8
    };
    if size > most
        || shape
            .grid
            .iter()
            .zip(cluster)
            .any(|(grid, cluster)| grid % cluster != 0)
    {
        return Err(code::INVALID_CLUSTER_SIZE);
    }
    if shape.cooperative {
        let blocks: u64 = shape.grid.iter().map(|&size| u64::from(size)).product();
        let resident = resident_blocks(function, threads, shape.shared as usize);
        let processors = device.limit(Limit::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        if blocks > u64::from(resident) * u64::from(processors) {
            return Err(code::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
    }
    Ok(Shape { cluster, ..shape })
}

/// Copies the parameters out of the caller's hands.
///
/// # Safety
///
/// `params` holds a valid pointer for each parameter, or `extra` a valid list.
pub(super) unsafe fn parameters(
    function: &Function,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Arc<[u8]>> {
    let kernel = &function.kernel;
    let size = kernel.parameter_bytes() as usize;
    let mut bytes = vec![0u8; size];
    if !params.is_null() && !extra.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: the caller's contract.
    unsafe {
        if !extra.is_null() {
            let (from, given) = packed(extra)?;
            if given > size || (from.is_null() && given > 0) {
                return Err(code::INVALID_VALUE);
            }
            core::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), given);
        } else if !kernel.parameters.is_empty() {
            if params.is_null() {
                return Err(code::INVALID_VALUE);
            }
            for (index, parameter) in kernel.parameters.iter().enumerate() {
                let from = params.add(index).read().cast::<u8>();
                if from.is_null() {
                    return Err(code::INVALID_VALUE);
                }
                let to = bytes.as_mut_ptr().add(parameter.offset as usize);
                core::ptr::copy_nonoverlapping(from, to, parameter.size as usize);
            }
        }
    }
    Ok(bytes.into())
}

/// # Safety
///
/// `extra` is a list of keys and pointers that ends with the end key.
unsafe fn packed(extra: *mut *mut c_void) -> Result<(*const u8, usize)> {
    let (mut buffer, mut size) = (core::ptr::null(), 0);
    let mut at = extra;
    // SAFETY: the caller's contract.
    unsafe {
        loop {
            match at.read() as usize {
                CU_LAUNCH_PARAM_END => return Ok((buffer, size)),
                CU_LAUNCH_PARAM_BUFFER_POINTER => {
                    buffer = at.add(1).read().cast::<u8>().cast_const()
                }
                CU_LAUNCH_PARAM_BUFFER_SIZE => {
                    let slot = at.add(1).read().cast::<usize>();
                    if slot.is_null() {
                        return Err(code::INVALID_VALUE);
                    }
                    size = slot.read();
                }
                _ => return Err(code::INVALID_VALUE),
            }
            at = at.add(2);
        }
    }
}

/// A checked launch with its parameters.
///
/// # Safety
///
/// As for [`parameters`].
pub(super) unsafe fn prepare(
    function: Arc<Function>,
    shape: Shape,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Launch> {
    let shape = check(&function, shape)?;
    // SAFETY: the caller's contract.
    let parameters = unsafe { parameters(&function, params, extra) }?;
    Ok(Launch {
        grid: shape.grid,
        block: shape.block,
        cluster: shape.cluster,
        shared: shape.shared,
        cooperative: shape.cooperative,
        parameters,
        function,
    })
}

/// # Safety
///
/// As for [`parameters`].
unsafe fn launch(
    f: CUfunction,
    shape: Shape,
    stream: CUstream,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result {
    let function = registries().functions.get(f)?;
    let stream = streams::find(stream)?;
    if function.context != stream.context_id {
        return Err(code::INVALID_HANDLE);
    }
    // SAFETY: the caller's contract.
    let launch = unsafe { prepare(function, shape, params, extra) }?;
    stream.perform(Operation::Kernel(launch))?;
    Ok(())
}
