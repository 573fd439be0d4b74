//! Faults on the simulator, as data.

use std::fmt;
use std::sync::Arc;

use warpsmith_abi::fault::{
    Fault, FaultAccess, FaultKind, Frame, OtherSide, SourceLocation, WaitingThreads,
};

use super::Code;

/// [`Error::Fault`](crate::Error::Fault): work on the simulator broke a rule of the device and cost the context. The simulator knows
/// what happened where; a GPU answers a code alone, which is an [`Error::Driver`](crate::Error::Driver).
///
/// Every later call for the same context reports the same fault. All of these errors have it as data; the text of the first one is the
/// whole report, that of the others says in a line which error that was.
///
/// ```
/// use warpsmith_host::fault::FaultKind;
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let module = gpu.load(
///     ".version 7.0 .target sm_70 .address_size 64
///      .visible .entry stray() { .reg .b64 %p; mov.u64 %p, 64; st.global.u32 [%p], 1; ret; }",
/// )?;
/// let stray = module.untyped_kernel::<()>("stray")?;
/// let stream = gpu.stream()?;
/// // SAFETY: it is not; the simulator reports what is wrong.
/// unsafe { stream.launch_untyped(&stray, Grid::new(1, 32), ())? };
/// let error = stream.synchronize().unwrap_err();
/// let fault = error.fault().expect("a fault");
/// assert_eq!(fault.kind(), FaultKind::IllegalAddress);
/// assert_eq!((fault.kernel(), fault.block()), (Some("stray"), Some([0, 0, 0])));
/// assert_eq!(fault.access().map(|access| (access.address, access.size)), Some((64, 4)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct KernelFault {
    /// The driver's function that reports it, which may be any call after the one that caused it.
    pub call: &'static str,
    /// What it answered.
    pub code: Code,
    /// What was being done, if more is known than the call.
    pub context: Option<String>,
    fault: Arc<Fault>,
    /// `fault` in words.
    report: Arc<str>,
    /// The call whose error told of the fault before.
    told_by: Option<&'static str>,
}

impl KernelFault {
    pub(crate) fn new(
        call: &'static str,
        code: Code,
        fault: Arc<Fault>,
        told_by: Option<&'static str>,
    ) -> KernelFault {
        KernelFault {
            call,
            code,
            context: None,
            report: fault.to_string().into(),
            fault,
            told_by,
        }
    }

    /// What kind of fault it is.
    pub fn kind(&self) -> FaultKind {
        self.fault.kind
    }

    /// What happened, in one line.
    pub fn message(&self) -> &str {
        &self.fault.message
    }

    /// The kernel's name as the PTX spells it; `None` where it was no kernel: a copy, a graph's condition.
    pub fn kernel(&self) -> Option<&str> {
        Some(&self.fault.origin.as_ref()?.kernel)
    }

    /// The index in the grid of the block whose thread failed.
    pub fn block(&self) -> Option<[u32; 3]> {
        Some(self.fault.origin.as_ref()?.block)
    }

    /// The index in its block of the thread that failed.
    pub fn thread(&self) -> Option<[u32; 3]> {
        Some(self.fault.origin.as_ref()?.thread)
    }

    /// Where in the source the thread was, if the PTX says so.
    pub fn location(&self) -> Option<&SourceLocation> {
        self.fault.location()
    }

    /// The functions that the thread was in, the innermost first, each with the calls that the compiler inlined.
    pub fn frames(&self) -> &[Frame] {
        self.fault
            .origin
            .as_ref()
            .map_or(&[], |origin| &origin.frames)
    }

    /// The memory access that failed, if it was one.
    pub fn access(&self) -> Option<&FaultAccess> {
        self.fault.access.as_ref()
    }

    /// The other access of a race.
    pub fn other_side(&self) -> Option<&OtherSide> {
        self.fault.other.as_ref()
    }

    /// Who waits where, if threads wait for each other.
    pub fn waiting(&self) -> &[WaitingThreads] {
        &self.fault.waiting
    }

    /// What else is known: what was expected instead, what to look at.
    pub fn notes(&self) -> &[String] {
        &self.fault.notes
    }

    /// All of it in words, several lines.
    pub fn report(&self) -> &str {
        &self.report
    }

    /// All of it as data, for programs that pass it on: it has a `serde` form. All errors of one fault share it.
    pub fn data(&self) -> &Arc<Fault> {
        &self.fault
    }
}

impl fmt::Display for KernelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::driver::write_call(f, self.call, self.context.as_deref(), self.code)?;
        let Some(told_by) = self.told_by else {
            return write!(f, "\n{}", self.report.trim_end());
        };
        write!(f, "\n  the context is lost since ")?;
        match self.kernel() {
            Some(kernel) => write!(f, "a fault of kernel `{kernel}`")?,
            None => f.write_str("a fault")?,
        }
        write!(
            f,
            " ({}): see the first report, in the error of {told_by}",
            self.message()
        )
    }
}

impl fmt::Debug for KernelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelFault")
            .field("call", &self.call)
            .field("code", &self.code)
            .field("context", &self.context)
            .field("fault", &self.fault)
            .finish()
    }
}

impl std::error::Error for KernelFault {}
