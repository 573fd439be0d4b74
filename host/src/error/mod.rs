//! Errors. Each one names the call, the driver's code, the limit and the value that broke it,
//! and what to do. On the simulator a fault comes along as data.

mod busy;
mod code;
mod driver;
mod fault;
mod graph_update;
mod hint;
mod hook;
mod limit;
mod misuse;
mod node;
mod not_found;
mod panics;
mod ptx;
mod refused;
mod unfinished;

pub use busy::Busy;
pub use code::Code;
pub use driver::DriverError;
pub use fault::KernelFault;
pub use graph_update::GraphUpdateError;
pub(crate) use hint::general_hint;
pub(crate) use hook::report_drop_error;
pub use hook::{DropErrorHook, set_drop_error_hook};
pub use limit::LimitError;
pub use misuse::{Misuse, Unsupported};
pub use node::Node;
pub use not_found::NotFound;
pub use panics::{HostFunctionPanic, KernelPanic};
pub use ptx::PtxError;
pub use refused::Refused;
pub use unfinished::Unfinished;

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Everything that this crate reports. It has the size of two pointers at most, so that returning `Ok` is cheap.
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
    /// The driver refused a call, or a GPU reports a fault.
    #[error(transparent)]
    Driver(Box<DriverError>),
    /// A fault on the simulator.
    #[error(transparent)]
    Fault(Box<KernelFault>),
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
    /// The host may not read the memory, which work of another library was writing when it was given up.
    #[error(transparent)]
    Unfinished(Box<Unfinished>),
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
            Error::Fault(fault) => Some(fault.code),
            Error::Limit(error) => Some(error.code),
            Error::Ptx(error) => Some(error.code),
            Error::NotFound(_) => Some(Code::NOT_FOUND),
            Error::Busy(_) => Some(Code::NOT_READY),
            Error::GraphUpdate(error) => Some(error.code),
            Error::Invalid(error) => Some(error.code),
            Error::Unsupported(_) => Some(Code::NOT_SUPPORTED),
            Error::KernelPanic(_)
            | Error::HostFunctionPanic(_)
            | Error::Unfinished(_)
            | Error::Device(_) => None,
        }
    }

    /// The fault on the simulator, if this is one: kernel, block, thread, source locations, the access, the other side of a race.
    pub fn fault(&self) -> Option<&KernelFault> {
        match self {
            Error::Fault(fault) => Some(fault),
            _ => None,
        }
    }

    /// The fault on the simulator in words.
    pub fn report(&self) -> Option<&str> {
        self.fault().map(KernelFault::report)
    }

    /// What to do about it, where that is more than the message says.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Driver(error) => error.hint.as_deref(),
            Error::Fault(fault) if fault.code.is_fatal() => Some(
                "the context is lost: mend what the report names; drop all that was made from the `Gpu`, and `gpu.reset()` gives a new one",
            ),
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
    #[cold]
    pub(crate) fn while_doing(mut self, context: impl FnOnce() -> String) -> Error {
        if let Some(known) = self.context_mut() {
            known.get_or_insert_with(context);
        }
        self
    }

    /// Adds to what was being done.
    #[cold]
    pub(crate) fn and_doing(mut self, more: impl FnOnce() -> String) -> Error {
        if let Some(known) = self.context_mut() {
            *known = Some(match known.take() {
                Some(known) => format!("{known} {}", more()),
                None => more(),
            });
        }
        self
    }

    /// Says what to do about what the driver refused, where more is known than [`general_hint`] says of the code. A context that is lost has no other
    /// way out.
    pub(crate) fn with_hint(mut self, hint: impl FnOnce() -> String) -> Error {
        if let Error::Driver(error) = &mut self
            && !error.code.is_fatal()
        {
            error.hint = Some(hint());
        }
        self
    }

    /// The same, of one code alone.
    pub(crate) fn with_hint_for(self, code: Code, hint: impl FnOnce() -> String) -> Error {
        match self.code() == Some(code) {
            true => self.with_hint(hint),
            false => self,
        }
    }

    fn context_mut(&mut self) -> Option<&mut Option<String>> {
        match self {
            Error::Driver(error) => Some(&mut error.context),
            Error::Fault(fault) => Some(&mut fault.context),
            _ => None,
        }
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
    fn several_panics_have_one_hint() {
        let of = |kernel: &str| KernelPanic {
            kernel: kernel.into(),
            message: "no".into(),
            ..Default::default()
        };
        let error = KernelPanic {
            others: vec![of("two")],
            ..of("one")
        };
        assert_eq!(
            error.to_string(),
            "kernel `one` panicked: no\nand kernel `two` panicked: no\n  hint: the thread ended there and the context is still usable; \
             what the grid wrote is incomplete"
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
        };
        assert_eq!(error.to_string(), "cuFoo: unknown driver code 9999");
    }
}
