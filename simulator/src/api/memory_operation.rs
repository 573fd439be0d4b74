//! Operations of a stream on words of memory: waits and writes, alone and in batches.

use super::entry::*;
use super::nodes::batch::{MOST_OPERATIONS, given};
use crate::graph;
use crate::streams::{self, Interface, MemoryBatch, Operation};

macro_rules! operations {
    ($($wait_32:ident $wait_64:ident $write_32:ident $write_64:ident $batch:ident: $interface:expr;)*) => {
        driver_calls! {
            $(
                Ready fn $wait_32(stream: CUstream, addr: CUdeviceptr, value: cuuint32_t, flags: c_uint) {
                    let kind = CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WAIT_VALUE_32;
                    perform(stream, &[wait(kind, addr, value.into(), flags)], $interface)?;
                }

                Ready fn $wait_64(stream: CUstream, addr: CUdeviceptr, value: cuuint64_t, flags: c_uint) {
                    let kind = CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WAIT_VALUE_64;
                    perform(stream, &[wait(kind, addr, value, flags)], $interface)?;
                }

                Ready fn $write_32(stream: CUstream, addr: CUdeviceptr, value: cuuint32_t, flags: c_uint) {
                    let kind = CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_32;
                    perform(stream, &[write(kind, addr, value.into(), flags)], $interface)?;
                }

                Ready fn $write_64(stream: CUstream, addr: CUdeviceptr, value: cuuint64_t, flags: c_uint) {
                    let kind = CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_64;
                    perform(stream, &[write(kind, addr, value, flags)], $interface)?;
                }

                Ready fn $batch(
                    stream: CUstream, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint,
                ) {
                    // The number comes before the interface, and the operations after it.
                    if count > MOST_OPERATIONS {
                        return Err(code::INVALID_VALUE);
                    }
                    $interface.check(streams::find(stream)?.context()?.device)?;
                    perform(stream, given(count, paramArray, flags)?, $interface)?;
                }
            )*
        }
    };
}

operations! {
    cuStreamWaitValue32 cuStreamWaitValue64 cuStreamWriteValue32 cuStreamWriteValue64 cuStreamBatchMemOp: Interface::First;
    cuStreamWaitValue32_v2 cuStreamWaitValue64_v2 cuStreamWriteValue32_v2 cuStreamWriteValue64_v2 cuStreamBatchMemOp_v2:
        Interface::Second;
}

fn wait(
    operation: CUstreamBatchMemOpType,
    address: CUdeviceptr,
    value64: u64,
    flags: c_uint,
) -> CUstreamBatchMemOpParams {
    let mut parameters = CUstreamBatchMemOpParams::default();
    parameters.waitValue = CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st {
        operation,
        address,
        __bindgen_anon_1:
            CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st__bindgen_ty_1 { value64 },
        flags,
        alias: 0,
    };
    parameters
}

fn write(
    operation: CUstreamBatchMemOpType,
    address: CUdeviceptr,
    value64: u64,
    flags: c_uint,
) -> CUstreamBatchMemOpParams {
    let mut parameters = CUstreamBatchMemOpParams::default();
    parameters.writeValue = CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st {
        operation,
        address,
        __bindgen_anon_1:
            CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st__bindgen_ty_1 {
                value64,
            },
        flags,
        alias: 0,
    };
    parameters
}

fn perform(
    stream: CUstream,
    parameters: &[CUstreamBatchMemOpParams],
    interface: Interface,
) -> Result {
    let stream = streams::find(stream)?;
    let batch = MemoryBatch::new(parameters, stream.context()?.device, interface)?;
    if interface == Interface::First {
        stream.capture.refuse_if_capturing()?;
    }
    graph::perform(&stream, Operation::Memory(batch))?;
    Ok(())
}
