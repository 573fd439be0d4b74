//! What a stream or a graph node does.

use core::ffi::c_void;
use std::sync::Arc;

use super::{Event, Fill, Transfer};
use crate::abi::CUhostFn;
use crate::engine;
use crate::graph::{Conditional, Graph};
use crate::module::Function;
use crate::pool;
use crate::report;
use crate::runtime::DeviceRuntime;
use crate::settings;
use crate::state::{Context, code, lock};

/// A kernel launch, checked and with its parameters copied.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) function: Arc<Function>,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) cluster: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) cooperative: bool,
    pub(crate) parameters: Arc<[u8]>,
}

/// A function of the program's, called on a thread of the driver's.
#[derive(Clone, Copy)]
pub(crate) struct HostCall {
    pub(crate) function: CUhostFn,
    pub(crate) data: *mut c_void,
}

// SAFETY: handing the pointer to another thread is what the program asks for with a host function.
unsafe impl Send for HostCall {}
// SAFETY: as above; the driver itself never looks through the pointer.
unsafe impl Sync for HostCall {}

/// One item of work.
#[derive(Clone)]
pub(crate) enum Operation {
    Empty,
    Kernel(Launch),
    Copy(Transfer),
    /// A copy whose source has been copied away already.
    StagedCopy(Transfer, Arc<[u8]>),
    Fill(Fill),
    Host(HostCall),
    /// A graph as one node; the graph belongs to the node.
    Child(Arc<Graph>),
    EventRecord(Arc<Event>),
    EventWait(Arc<Event>),
    Conditional(Conditional),
    /// Stream-ordered memory, whose address is known already.
    Allocate {
        address: usize,
        bytes: usize,
    },
    Free(usize),
}

impl Operation {
    /// Does it. An error spoils the context and names itself in the report.
    pub(crate) fn execute(&self, context: &Context) -> Result<(), ()> {
        let outcome = match self {
            Self::Empty => Ok(()),
            Self::Allocate { address, .. } => pool::allocate_again(*address),
            Self::Kernel(launch) => return launch.execute(context),
            // SAFETY: pageable ends are the program's responsibility until the stream has passed the copy.
            Self::Copy(transfer) => unsafe { transfer.execute() },
            // SAFETY: the staged bytes live in this operation; the other end is as above.
            Self::StagedCopy(transfer, staged) => unsafe {
                transfer.with_staged_source(staged).execute()
            },
            Self::Fill(fill) => fill.execute(),
            Self::Host(call) => {
                call.run();
                Ok(())
            }
            Self::Free(address) => {
                pool::free_now(*address);
                Ok(())
            }
            Self::EventRecord(_) | Self::EventWait(_) | Self::Child(_) | Self::Conditional(_) => {
                Err("a graph node was executed outside a graph".to_owned())
            }
        };
        outcome.map_err(|text| {
            report::fault(&text);
            context.spoil(code::ILLEGAL_ADDRESS);
        })
    }
}

impl HostCall {
    pub(crate) fn run(&self) {
        if let Some(function) = self.function {
            // SAFETY: the program promised with the call that the function may be called with its data.
            crate::api::as_host_function(|| unsafe { function(self.data) });
        }
    }
}

impl Launch {
    fn execute(&self, context: &Context) -> Result<(), ()> {
        let launch = engine::Launch {
            kernel: &self.function.kernel,
            grid: self.grid,
            block: self.block,
            cluster: self.cluster,
            dynamic_shared: self.shared,
            cooperative: self.cooperative,
            params: &self.parameters,
        };
        let settings = settings::get();
        let runtime = DeviceRuntime::new(context);
        let environment = engine::Environment {
            memory: crate::memory::Memory::global(),
            runtime: &runtime,
            checks: settings.checks,
            seed: settings.seed,
            threads: settings.threads,
            stack_limit: lock(&context.limits).stack.min(u32::MAX as usize) as u32,
            cancel: Some(&context.cancel),
        };
        match engine::run(&launch, &environment) {
            Ok(_) => Ok(()),
            Err(fault) => {
                // A launch that was cancelled by the end of its context is no fault of the program's.
                if fault.kind != engine::FaultKind::Cancelled {
                    report::fault(&fault.to_string());
                    context.spoil(crate::abi::cudaError_enum(fault.kind.code() as u32));
                }
                Err(())
            }
        }
    }
}
