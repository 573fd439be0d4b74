//! What a stream or a graph node does.

use std::sync::Arc;

use super::event::Event;
use super::host_call::HostCall;
use super::launch::Launch;
use super::memory_operation::MemoryBatch;
use crate::context::Context;
use crate::memory::graph_memory::GraphAllocation;
use crate::memory::{self, CheckedFill, Transfer};
use warpsmith_abi::fault::{Fault, FaultKind};

/// One item of work.
#[derive(Clone)]
pub(crate) enum Operation {
    /// Nothing: its order alone matters.
    Empty,
    Kernel(Launch),
    Copy(Transfer),
    /// A copy whose source has been copied away already.
    StagedCopy(Transfer, Arc<[u8]>),
    Fill(CheckedFill),
    /// Waits for words of memory and writes of them.
    Memory(MemoryBatch),
    Host(HostCall),
    EventRecord(Arc<Event>),
    EventWait(Arc<Event>),
    /// Frees stream-ordered memory, or plain device memory.
    Free(usize),
    /// Allocates memory of a graph.
    GraphAllocate(Arc<GraphAllocation>),
    /// Frees memory of a graph, with the call that did it.
    GraphFree(Arc<GraphAllocation>, &'static str),
}

impl Operation {
    /// Executes the operation. An error becomes the context's sticky error and is reported.
    pub(crate) fn execute(&self, context: &Context) {
        let outcome = match self {
            Self::Empty => Ok(()),
            Self::Kernel(launch) => return launch.execute(context),
            // SAFETY: the program has promised with the driver call that pageable ends stay valid until the stream has passed the copy.
            Self::Copy(transfer) => unsafe { transfer.execute() },
            // SAFETY: the staged bytes live in this operation; the program has promised with the driver call that a pageable
            // destination stays valid until the stream has passed the copy.
            Self::StagedCopy(transfer, staged) => unsafe {
                transfer.with_staged_source(staged).execute()
            },
            Self::Fill(fill) => fill.execute(),
            Self::Memory(batch) => batch.execute(context),
            Self::Host(call) => {
                call.run();
                Ok(())
            }
            Self::Free(address) => {
                memory::free_in_stream_order(*address);
                Ok(())
            }
            Self::GraphAllocate(allocation) => allocation.make_live(),
            Self::GraphFree(allocation, by) => allocation.end(by),
            Self::EventRecord(event) => {
                event.promise().complete();
                Ok(())
            }
            Self::EventWait(event) => {
                event.recording().wait(|| context.is_ending());
                Ok(())
            }
        };
        if let Err(text) = outcome {
            context.fail(Fault::outside_kernels(FaultKind::IllegalAddress, text));
        }
    }
}
