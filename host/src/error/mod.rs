//! What can go wrong, in words that help: each error names the call, the driver's code, the limit and the value that broke it,
//! and what to do. On the simulator the full report of the fault comes along.

mod code;
mod hook;
mod kinds;
mod node;

pub use code::Code;
pub(crate) use hook::report_drop_error;
pub use hook::{DropErrorHook, set_drop_error_hook};
pub use kinds::{
    Busy, DriverError, GraphUpdateError, HostFunctionPanic, KernelPanic, LimitError, Misuse,
    NotFound, PtxError, Unsupported,
};
pub use node::Node;

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Everything that this crate reports. Small (a pointer), so that the good path stays cheap.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let error = gpu.load("not PTX at all").unwrap_err();
/// assert!(matches!(error, Error::Ptx(_)));
/// assert!(error.code().is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver refused a call, or reports a fault on the device.
    #[error(transparent)]
    Driver(Box<DriverError>),
    /// A launch or a request exceeds a limit of the kernel or the device.
    #[error(transparent)]
    Limit(Box<LimitError>),
    /// The driver rejects a module's PTX.
    #[error(transparent)]
    Ptx(Box<PtxError>),
    /// A kernel panicked. The context is still usable.
    #[error(transparent)]
    KernelPanic(Box<KernelPanic>),
    /// A module has no kernel or variable of this name.
    #[error(transparent)]
    NotFound(Box<NotFound>),
    /// The host may not touch the memory now, because the device may be using it.
    #[error(transparent)]
    Busy(Box<Busy>),
    /// An instantiated graph cannot be updated to another graph.
    #[error(transparent)]
    GraphUpdate(Box<GraphUpdateError>),
    /// The call cannot work with these arguments or in this state; nothing was done.
    #[error(transparent)]
    Invalid(Box<Misuse>),
    /// The device or the driver lacks a feature.
    #[error(transparent)]
    Unsupported(Box<Unsupported>),
    /// A function that a stream or a graph called on the host panicked.
    #[error(transparent)]
    HostFunctionPanic(Box<HostFunctionPanic>),
    /// No driver could be loaded, or it has no device.
    #[error(transparent)]
    Device(#[from] Box<warpsmith_driver::SelectError>),
}

impl From<warpsmith_driver::SelectError> for Error {
    fn from(error: warpsmith_driver::SelectError) -> Error {
        Error::Device(Box::new(error))
    }
}

impl Error {
    /// The driver's code, where the error has one.
    pub fn code(&self) -> Option<Code> {
        match self {
            Error::Driver(error) => Some(error.code),
            Error::Limit(error) => Some(error.code),
            Error::Ptx(error) => Some(error.code),
            Error::NotFound(_) => Some(Code::NOT_FOUND),
            Error::Busy(_) => Some(Code::NOT_READY),
            Error::GraphUpdate(error) => Some(error.code),
            Error::Invalid(error) => Some(error.code),
            Error::Unsupported(_) => Some(Code::NOT_SUPPORTED),
            Error::KernelPanic(_) | Error::HostFunctionPanic(_) | Error::Device(_) => None,
        }
    }

    /// The simulator's report of the fault: kernel, block, thread, source line, the access and what it missed.
    pub fn report(&self) -> Option<&str> {
        match self {
            Error::Driver(error) => error.report.as_deref(),
            _ => None,
        }
    }

    /// What to do about it, where that is more than the message says.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Driver(error) => error.hint.as_deref(),
            Error::Limit(error) => Some(&error.hint),
            Error::Ptx(error) => error.hint.as_deref(),
            Error::Busy(error) => Some(error.hint),
            Error::Invalid(error) => Some(&error.hint),
            Error::Unsupported(error) => Some(&error.needs),
            _ => None,
        }
    }

    /// The panic, if this is one.
    pub fn panic(&self) -> Option<&KernelPanic> {
        match self {
            Error::KernelPanic(panic) => Some(panic),
            _ => None,
        }
    }

    /// Says in the error what was being done.
    pub(crate) fn while_doing(mut self, context: impl FnOnce() -> String) -> Error {
        if let Error::Driver(error) = &mut self {
            error.context.get_or_insert_with(context);
        }
        self
    }

    #[cold]
    pub(crate) fn misuse(
        call: &'static str,
        code: Code,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Error {
        Error::Invalid(Box::new(Misuse {
            call,
            code,
            message: message.into(),
            hint: hint.into(),
        }))
    }

    #[cold]
    pub(crate) fn unsupported(what: impl Into<String>, needs: impl Into<String>) -> Error {
        Error::Unsupported(Box::new(Unsupported {
            what: what.into(),
            needs: needs.into(),
        }))
    }
}

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
            "8 blocks are portable; 16 need `kernel.set_non_portable_cluster(true)`; the grid must be a multiple of the cluster"
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_gets_a_suggestion() {
        // covers: DRV-13
        let error = NotFound {
            call: "cuModuleGetFunction",
            what: "kernel",
            name: "saxpi".into(),
            present: vec!["dot".into(), "saxpy".into()],
        };
        assert!(
            error.to_string().ends_with("did you mean `saxpy`?"),
            "{error}"
        );
        let error = NotFound {
            name: "transposition".into(),
            ..error
        };
        assert!(
            error.to_string().ends_with("it has `dot`, `saxpy`"),
            "{error}"
        );
    }

    #[test]
    fn errors_are_two_words() {
        assert!(
            size_of::<Result<()>>() <= 2 * size_of::<usize>(),
            "{}",
            size_of::<Error>()
        );
    }

    #[test]
    fn unknown_codes_stay_numbers() {
        // covers: ERROR-01
        let error = DriverError {
            call: "cuFoo",
            code: Code(9999),
            context: None,
            hint: None,
            report: None,
        };
        assert_eq!(error.to_string(), "cuFoo: unknown driver code 9999");
    }
}
