//! Waits of streams for words of memory, and writes of them: alone, in batches, captured and as nodes of graphs.
//!
//! What a real driver answers to wrong arguments was not measured: there a test asks only that it refuses them.

mod batches;
mod nodes;
mod words;

use crate::common::*;
use std::time::Duration;
use warpsmith_testkit::{Side, own_process};

const GEQ: c_uint = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_GEQ.0;
const EQ: c_uint = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ.0;
const AND: c_uint = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_AND.0;
const NOR: c_uint = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_NOR.0;
const FLUSH: c_uint = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_FLUSH.0;
const NO_BARRIER: c_uint = CUstreamWriteValue_flags::CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER.0;
const RELAXED: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;

/// Runs the calling test on the simulator in a process of its own with `variables` set. What it printed, where it is told to us.
fn in_child(variables: &[(&str, &str)]) -> Option<String> {
    let variables = [&[("WARPSMITH_DEVICE", "simulator")][..], variables].concat();
    match own_process(&variables) {
        Side::Child => None,
        Side::Parent(output) => Some(output.text()),
    }
}

fn has(attribute: CUdevice_attribute) -> bool {
    let value: c_int = get!(cuDeviceGetAttribute(attribute, 0));
    value != 0
}

/// Whether what stands behind a wait has not run after a while.
fn is_held(stream: CUstream, behind: &Flag) -> bool {
    std::thread::sleep(Duration::from_millis(10));
    fails!(600, cuStreamQuery(stream));
    behind.get() == 0
}

fn wait(address: CUdeviceptr, value: u32, flags: c_uint) -> CUstreamBatchMemOpParams {
    use CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st as Wait;
    let mut parameters = CUstreamBatchMemOpParams::default();
    let mut wait = Wait {
        operation: CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WAIT_VALUE_32,
        address,
        flags,
        ..Wait::default()
    };
    wait.__bindgen_anon_1.value = value;
    parameters.waitValue = wait;
    parameters
}

fn write(address: CUdeviceptr, value: u32) -> CUstreamBatchMemOpParams {
    use CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st as Write;
    let mut parameters = CUstreamBatchMemOpParams::default();
    let mut write = Write {
        operation: CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_32,
        address,
        ..Write::default()
    };
    write.__bindgen_anon_1.value = value;
    parameters.writeValue = write;
    parameters
}

fn barrier(flags: c_uint) -> CUstreamBatchMemOpParams {
    let mut parameters = CUstreamBatchMemOpParams::default();
    parameters.memoryBarrier = CUstreamBatchMemOpParams_union_CUstreamMemOpMemoryBarrierParams_st {
        operation: CUstreamBatchMemOpType::CU_STREAM_MEM_OP_BARRIER,
        flags,
    };
    parameters
}

/// Calls a driver function that refuses its arguments: the simulator with this code, a real driver with any.
macro_rules! refuses {
    ($code:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the driver looks at its arguments before it uses them.
        let result = unsafe { $function($($argument),*) };
        match gpu() {
            Backend::Simulator => assert_eq!(result.0, $code, "{}", stringify!($function)),
            Backend::Cuda => assert_ne!(result.0, 0, "{}", stringify!($function)),
        }
    }};
}
use refuses;
