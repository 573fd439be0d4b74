//! What can go wrong, in words that help: each error names the call, the driver's code, the limit and the value that broke it,
//! and what to do. On the simulator the full report of the fault comes along.

mod code;
mod hook;

use std::fmt::{self, Display, Write as _};

pub use code::Code;
pub(crate) use hook::report_drop_error;
pub use hook::{DropErrorHook, set_drop_error_hook};

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

/// [`Error::Driver`]: a code other than success.
#[derive(Debug)]
pub struct DriverError {
    /// The driver's function.
    pub call: &'static str,
    /// What it answered.
    pub code: Code,
    /// What was being done, if more is known than the call.
    pub context: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The simulator's full report.
    pub report: Option<String>,
}

impl Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.call)?;
        if let Some(context) = &self.context {
            write!(f, " ({context})")?;
        }
        write!(f, ": {}", self.code)?;
        if !self.code.description().is_empty() {
            write!(f, ": {}", self.code.description())?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        if let Some(report) = &self.report {
            write!(f, "\n{}", report.trim_end())?;
        }
        Ok(())
    }
}

impl std::error::Error for DriverError {}

/// [`Error::Limit`]: a value beyond its limit.
#[derive(Debug)]
pub struct LimitError {
    /// The driver's function that was, or would have been, called.
    pub call: &'static str,
    /// What the driver answers to this.
    pub code: Code,
    /// The kernel, or what else was asked for.
    pub subject: String,
    /// The quantity, in words.
    pub what: &'static str,
    /// What was asked for.
    pub value: u64,
    /// What is possible.
    pub limit: u64,
    /// What to do about it.
    pub hint: String,
}

impl Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of `{}`: {} is {}, the limit is {}: {}\n  hint: {}",
            self.call, self.subject, self.what, self.value, self.limit, self.code, self.hint
        )
    }
}

impl std::error::Error for LimitError {}

/// [`Error::Ptx`]: the module's text was refused.
#[derive(Debug)]
pub struct PtxError {
    /// The driver's function.
    pub call: &'static str,
    /// What it answered.
    pub code: Code,
    /// The compiler's log, or the simulator's message with line and column.
    pub log: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Display for PtxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: {}",
            self.call,
            self.code,
            self.code.description()
        )?;
        for line in self.log.lines().filter(|line| !line.trim().is_empty()) {
            write!(f, "\n  | {line}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PtxError {}

/// [`Error::KernelPanic`]: the first panic since the last one was reported. The thread ended; the context lives on.
#[derive(Debug, Clone)]
pub struct KernelPanic {
    /// The kernel, or the kernels that it can have been: those launched with this grid and block from the module.
    pub kernel: String,
    /// The panic's message; empty where the kernels were built to report the location only.
    pub message: String,
    /// The source file.
    pub file: String,
    /// Line in the file.
    pub line: u32,
    /// Column in the line.
    pub column: u32,
    /// The block's index in the grid.
    pub block: [u32; 3],
    /// The thread's index in the block.
    pub thread: [u32; 3],
    /// The grid's size in blocks.
    pub grid_dim: [u32; 3],
    /// The block's size in threads.
    pub block_dim: [u32; 3],
}

impl Display for KernelPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = if self.message.is_empty() {
            "(message not compiled in)"
        } else {
            &self.message
        };
        write!(
            f,
            "kernel `{}` panicked at {}:{}:{}: {message}\n  in block {:?} thread {:?} of grid {:?} block {:?}\n  \
             hint: the thread ended there and the context is still usable; what the grid wrote is incomplete",
            self.kernel,
            self.file,
            self.line,
            self.column,
            self.block,
            self.thread,
            self.grid_dim,
            self.block_dim
        )
    }
}

impl std::error::Error for KernelPanic {}

/// [`Error::HostFunctionPanic`]: the stream went on after it.
#[derive(Debug)]
pub struct HostFunctionPanic {
    /// The wait that reports it.
    pub call: &'static str,
    /// The panic's message.
    pub message: String,
}

impl Display for HostFunctionPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: a host function panicked: {}\n  hint: the work after it was done all the same",
            self.call, self.message
        )
    }
}

impl std::error::Error for HostFunctionPanic {}

/// [`Error::NotFound`].
#[derive(Debug)]
pub struct NotFound {
    /// The driver's function.
    pub call: &'static str,
    /// `kernel` or `variable`.
    pub what: &'static str,
    /// The name that was asked for.
    pub name: String,
    /// What the module has.
    pub present: Vec<String>,
}

impl Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: the module has no {} `{}`",
            self.call,
            Code::NOT_FOUND,
            self.what,
            self.name
        )?;
        let close = self
            .present
            .iter()
            .min_by_key(|have| distance(have, &self.name));
        match close {
            Some(close) if distance(close, &self.name) <= 1 + self.name.len() / 3 => {
                write!(f, "\n  hint: did you mean `{close}`?")
            }
            Some(_) => write!(f, "\n  hint: it has {}", list(&self.present)),
            None => write!(
                f,
                "\n  hint: it has none at all; was the right file built into PTX?"
            ),
        }
    }
}

impl std::error::Error for NotFound {}

/// [`Error::Busy`].
#[derive(Debug)]
pub struct Busy {
    /// What was asked for.
    pub call: &'static str,
    /// Why it cannot be had now.
    pub reason: String,
    /// What to do about it.
    pub hint: &'static str,
}

impl Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: {}\n  hint: {}",
            self.call,
            Code::NOT_READY,
            self.reason,
            self.hint
        )
    }
}

impl std::error::Error for Busy {}

/// [`Error::GraphUpdate`].
#[derive(Debug)]
pub struct GraphUpdateError {
    /// The driver's code, usually 910.
    pub code: Code,
    /// `CUgraphExecUpdateResult` as a number.
    pub result: u32,
    /// The same in words.
    pub reason: &'static str,
    /// The node of the new graph that does not fit, if the driver says so.
    pub node: Option<crate::Node>,
}

impl Display for GraphUpdateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cuGraphExecUpdate: {}: {} (result {})",
            self.code, self.reason, self.result
        )?;
        if let Some(node) = self.node {
            write!(f, ", at {node:?}")?;
        }
        write!(
            f,
            "\n  hint: instantiate the new graph instead; the old executable graph still works as it was"
        )
    }
}

impl std::error::Error for GraphUpdateError {}

/// [`Error::Invalid`].
#[derive(Debug)]
pub struct Misuse {
    /// What was called.
    pub call: &'static str,
    /// The driver's code for this, where it has one.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.call, self.code, self.message)?;
        if !self.hint.is_empty() {
            write!(f, "\n  hint: {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Misuse {}

/// [`Error::Unsupported`].
#[derive(Debug)]
pub struct Unsupported {
    /// What was asked for.
    pub what: String,
    /// What it needs.
    pub needs: String,
}

impl Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}\n  hint: it needs {}",
            self.what,
            Code::NOT_SUPPORTED,
            self.needs
        )
    }
}

impl std::error::Error for Unsupported {}

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

/// Levenshtein's distance, for "did you mean".
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

fn list(names: &[String]) -> String {
    let mut text = String::new();
    for (i, name) in names.iter().take(12).enumerate() {
        let _ = write!(text, "{}`{name}`", if i == 0 { "" } else { ", " });
    }
    if names.len() > 12 {
        let _ = write!(text, " and {} more", names.len() - 12);
    }
    text
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
