//! Launches: what a grid may look like, and how its parameters come together.

use std::sync::Arc;

use super::attributes;
use super::entry::*;
use crate::graph;
use crate::module::{Function, function_or_kernel};
use crate::streams::{self, Holder, HostCall, Launch, LaunchRequest, LaunchShape, Operation};

driver_calls! {
    Ready fn cuLaunchKernel(
        f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint,
        blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) {
        let shape = LaunchShape {
            grid: [gridDimX, gridDimY, gridDimZ],
            block: [blockDimX, blockDimY, blockDimZ],
            dynamic_shared: sharedMemBytes,
            ..LaunchShape::default()
        };
        launch(f, shape, None, hStream, kernelParams, extra)?;
    }

    Ready fn cuLaunchCooperativeKernel(
        f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint,
        blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void,
    ) {
        let shape = LaunchShape {
            grid: [gridDimX, gridDimY, gridDimZ],
            block: [blockDimX, blockDimY, blockDimZ],
            dynamic_shared: sharedMemBytes,
            cooperative: true,
            ..LaunchShape::default()
        };
        launch(f, shape, None, hStream, kernelParams, core::ptr::null_mut())?;
    }

    Ready fn cuLaunchKernelEx(
        config: *const CUlaunchConfig, f: CUfunction, kernelParams: *mut *mut c_void, extra: *mut *mut c_void,
    ) {
        let config = config.as_ref().ok_or(code::INVALID_VALUE)?;
        launch(f, shape_of(config), Some(config), config.hStream, kernelParams, extra)?;
    }

    Ready fn cuLaunchHostFunc(hStream: CUstream, r#fn: CUhostFn, userData: *mut c_void) {
        if r#fn.is_none() {
            return Err(code::INVALID_VALUE);
        }
        graph::perform(&*streams::find(hStream)?, Operation::Host(HostCall { function: r#fn, data: userData }))?;
    }
}

/// The shape of a launch without its attributes.
fn shape_of(config: &CUlaunchConfig) -> LaunchShape {
    LaunchShape {
        grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
        block: [config.blockDimX, config.blockDimY, config.blockDimZ],
        dynamic_shared: config.sharedMemBytes,
        ..LaunchShape::default()
    }
}

/// Adds a configuration's attributes to the launch that it describes.
///
/// # Safety
///
/// The attribute array is null or valid, and each value is one of its attribute's type.
unsafe fn add_attributes(
    request: &mut LaunchRequest,
    config: &CUlaunchConfig,
    device: usize,
) -> Result {
    if config.numAttrs > 0 && config.attrs.is_null() {
        return Err(code::INVALID_VALUE);
    }
    for index in 0..config.numAttrs as usize {
        // SAFETY: the array is not null, so valid for `numAttrs` entries by the caller's contract, with values of the attributes' types.
        let attribute = unsafe {
            let given = &*config.attrs.add(index);
            attributes::read(Holder::Launch, given.id, &given.value)?
        };
        request.set(attribute, device)?;
    }
    Ok(())
}

/// The launch that a configuration describes, for questions about it.
///
/// # Safety
///
/// As for [`add_attributes`].
pub(super) unsafe fn request_of(config: &CUlaunchConfig, device: usize) -> Result<LaunchRequest> {
    let mut request = LaunchRequest {
        shape: shape_of(config),
        ..LaunchRequest::default()
    };
    // SAFETY: the array is as it is asked for by the caller's contract.
    unsafe { add_attributes(&mut request, config, device) }?;
    Ok(request)
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
    // SAFETY: `extra` is a valid list, or `params` has a valid pointer for each parameter, by the caller's contract; what is copied fits
    // the buffer, as `given <= size` and each parameter lies inside of `parameter_bytes`.
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
    // SAFETY: the list ends with the end key and each other key is followed by its value by the caller's contract.
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
    request: &LaunchRequest,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Launch> {
    let shape = request.shape.check(&function)?;
    request.hints.check(shape.cluster)?;
    // SAFETY: `params` and `extra` are what `parameters` asks for by the caller's contract.
    let parameters = unsafe { parameters(&function, params, extra) }?;
    Ok(Launch {
        function,
        shape,
        hints: request.hints,
        parameters,
    })
}

/// # Safety
///
/// As for [`parameters`] and [`add_attributes`].
unsafe fn launch(
    f: CUfunction,
    shape: LaunchShape,
    config: Option<&CUlaunchConfig>,
    stream: CUstream,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result {
    // A library's kernel is that of the stream's context.
    let function = function_or_kernel(f, || streams::find(stream)?.context())?;
    let stream = streams::find(stream)?;
    if function.context != stream.context_id {
        return Err(code::INVALID_HANDLE);
    }
    let mut request = LaunchRequest::of_stream(shape, &stream.attributes());
    if let Some(config) = config {
        // SAFETY: the attributes are what is asked for by the caller's contract.
        unsafe { add_attributes(&mut request, config, function.device) }?;
    }
    // SAFETY: `params` and `extra` are what `parameters` asks for by the caller's contract.
    let launch = unsafe { prepare(function, &request, params, extra) }?;
    graph::perform_launch(&stream, launch, &request.signals)
}
