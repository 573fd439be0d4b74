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
        Code::INVALID_CLUSTER_SIZE => {
            "8 blocks are portable; 16 need `kernel.set_cluster_sizes(ClusterSizes::NonPortable)`; the grid must be a multiple of the cluster"
        }
        Code::COOPERATIVE_LAUNCH_TOO_LARGE => {
            "`kernel.max_cooperative_blocks(..)` says how many blocks fit at once"
        }
        Code::INVALID_HANDLE => AFTER_RESET,
        Code::STREAM_CAPTURE_INVALIDATED => "look at the first error inside the capture",
        Code::NOT_SUPPORTED => {
            "the driver or the device is too old for this, or the simulator does not have it"
        }
        code if code.is_fatal() => return Some(after_loss(code)),
        _ => return None,
    };
    Some(hint.into())
}

/// Of handles that this crate has, and the driver does not know any more.
const AFTER_RESET: &str = "another library has reset the device (`cudaDeviceReset`, `cuDevicePrimaryCtxReset`): drop all that was made from the `Gpu`, and open it again";

/// What to do about a code after which the context is lost.
fn after_loss(code: Code) -> String {
    const RESTART: &str = "the context is lost: start the process anew";
    const FIND: &str = "run it with WARPSMITH_DEVICE=simulator to see kernel, thread and line";
    match code {
        Code::ILLEGAL_ADDRESS
        | Code::MISALIGNED_ADDRESS
        | Code::INVALID_ADDRESS_SPACE
        | Code::INVALID_PC
        | Code::ILLEGAL_INSTRUCTION
        | Code::ASSERT
        | Code::TENSOR_MEMORY_LEAK
        | Code::LAUNCH_FAILED => format!("{RESTART}; {FIND}"),
        Code::HARDWARE_STACK_ERROR => {
            format!("{RESTART}; give threads more stack by `gpu.set_stack_size(bytes)`, or {FIND}")
        }
        Code::LAUNCH_TIMEOUT => format!(
            "{RESTART}; divide the work into shorter kernels, or use a device that shows no display (`Attribute::KERNEL_EXEC_TIMEOUT` is 0)"
        ),
        Code::CONTEXT_IS_DESTROYED => AFTER_RESET.into(),
        Code::EXTERNAL_DEVICE => {
            format!(
                "{RESTART}; what signals the external semaphore that a stream waited for has failed: look there"
            )
        }
        Code::MPS_CLIENT_TERMINATED => {
            format!("{RESTART}; the fault may be another client's: the MPS server's log says more")
        }
        // What the program did has no part in it.
        _ => format!(
            "{RESTART}; it is the machine and not the kernel: `nvidia-smi -q` and the system's log (Xid) say more"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever costs the context says so, and what comes next.
    #[test]
    fn each_loss_has_a_way_out() {
        for code in (1..1000).map(Code).filter(|code| code.is_fatal()) {
            let hint = general_hint(code).unwrap_or_else(|| panic!("{code} has none"));
            let says = hint.contains("start the process anew") || hint.contains("open it again");
            assert!(says, "{code}: {hint}");
        }
        let of_machine = |code| after_loss(code).contains("machine");
        assert!(of_machine(Code::ECC_UNCORRECTABLE) && of_machine(Code::NVLINK_UNCORRECTABLE));
        assert!(!of_machine(Code::ILLEGAL_ADDRESS));
    }
}
