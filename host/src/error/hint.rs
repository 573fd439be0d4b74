//! What to do about codes.

use super::Code;

/// What to do about a code, where there is something general to say.
pub(crate) fn general_hint(code: Code) -> Option<String> {
    let hint = match code {
        Code::OUT_OF_MEMORY => {
            "free buffers or use smaller ones; `gpu.memory_info()` says what is left"
        }
        Code::NO_DEVICE => "set WARPSMITH_DEVICE=simulator to run without a GPU",
        Code::LAUNCH_OUT_OF_RESOURCES => {
            "use smaller blocks, or bound the registers with `launch_bounds`"
        }
        Code::ILLEGAL_ADDRESS
        | Code::MISALIGNED_ADDRESS
        | Code::LAUNCH_FAILED
        | Code::INVALID_ADDRESS_SPACE => {
            "the context is lost: start the process anew; run it with WARPSMITH_DEVICE=simulator to see kernel, thread and line"
        }
        Code::CONTEXT_IS_DESTROYED => {
            "an earlier fault destroyed the context; look at the first error"
        }
        Code::INVALID_CLUSTER_SIZE => {
            "8 blocks are portable; 16 need `kernel.set_cluster_sizes(ClusterSizes::NonPortable)`; the grid must be a multiple of the cluster"
        }
        Code::COOPERATIVE_LAUNCH_TOO_LARGE => {
            "`kernel.max_cooperative_blocks(..)` says how many blocks fit at once"
        }
        Code::STREAM_CAPTURE_INVALIDATED => "look at the first error inside the capture",
        Code::NOT_SUPPORTED => {
            "the driver or the device is too old for this, or the simulator does not have it"
        }
        _ => return None,
    };
    Some(hint.into())
}
