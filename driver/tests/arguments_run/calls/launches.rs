//! Launches of kernels.

use crate::common::*;
use crate::table::calls;
use crate::world::*;

/// A launch of one thread.
fn configuration(w: &World) -> *const CUlaunchConfig {
    given(CUlaunchConfig {
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        hStream: w.own.stream,
        ..Default::default()
    })
}

fn cooperative(w: &World) -> *mut CUDA_LAUNCH_PARAMS {
    slot(CUDA_LAUNCH_PARAMS {
        function: w.own.function,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: w.own.stream,
        kernelParams: w.store(),
    })
}

calls! { w:
    cuLaunchKernel(w.own.function, 1, 1, 1, 1, 1, 1, 0, w.own.stream, w.store(), null_mut()) 0;
    cuLaunchCooperativeKernel(w.own.function, 1, 1, 1, 1, 1, 1, 0, w.own.stream, w.store()) 0;
    cuLaunchKernelEx(configuration(w), w.own.function, w.store(), null_mut()) 0;
    cuLaunchCooperativeKernelMultiDevice(cooperative(w), 1, 0) 801;
}
