//! What a stream or a graph node does.

use std::sync::Arc;

use super::event::Event;
use super::host_call::HostCall;
use super::launch::Launch;
use super::memory_operation::MemoryBatch;
use super::semaphore::SemaphoreBatch;
use crate::check::stream_order::{Class, PAGE, Touched};
use crate::context::Context;
use crate::memory::discarded::Discard;
use crate::memory::graph_memory::GraphAllocation;
use crate::memory::{self, CheckedFill, Memory, Transfer};
use crate::order_check;
use crate::work::{self, host};
use warpsmith_abi::fault::{Fault, FaultKind};
use warpsmith_abi::{CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS};

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
    /// Makes what managed memory holds indeterminate.
    Discard(Arc<Discard>),
    /// Waits for words of memory and writes of them.
    Memory(MemoryBatch),
    /// Signals semaphores of other program interfaces.
    SemaphoreSignal(SemaphoreBatch<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS>),
    /// Waits for semaphores of other program interfaces.
    SemaphoreWait(SemaphoreBatch<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS>),
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
        let piece = match self.name() {
            Some(name) => order_check::begin(context, || name),
            None => None,
        };
        let piece = match self {
            Self::Memory(_) => piece.map(|piece| piece.relaying().speaking(&self.touched())),
            _ if self.sets_words() => piece.map(|piece| piece.speaking(&self.touched())),
            _ => piece,
        };
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
            Self::Discard(discard) => discard.execute(),
            Self::Memory(batch) => batch.execute(context),
            Self::SemaphoreSignal(batch) => return batch.signal(context),
            Self::SemaphoreWait(batch) => return batch.wait(context),
            Self::Host(call) => {
                call.run();
                // It may tell anybody on the host what has happened before.
                if let Some(place) = work::place() {
                    host::learn(|clock| place.enter(clock));
                }
                Ok(())
            }
            Self::Free(address) => {
                if let Some(place) = work::place() {
                    order_check::owner_frees("cuMemFreeAsync", &place.label, *address);
                }
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
        match (outcome, piece) {
            (Err(text), piece) => {
                let fault = Fault::outside_kernels(FaultKind::IllegalAddress, text);
                match piece {
                    Some(piece) => {
                        piece.fail(fault, self.touched().pages().map(|page| page * PAGE))
                    }
                    None => context.fail(fault),
                }
            }
            (Ok(()), Some(piece)) => self.end(piece),
            (Ok(()), None) => {}
        }
    }

    /// The operation as a stream holds it, from when it is issued.
    pub(super) fn issued(self) -> Self {
        match self {
            Self::SemaphoreSignal(batch) => Self::SemaphoreSignal(batch.issued_in_stream()),
            Self::SemaphoreWait(batch) => Self::SemaphoreWait(batch.issued_in_stream()),
            other => other,
        }
    }

    /// Whether it may write a word that somebody waits for.
    fn sets_words(&self) -> bool {
        match self {
            Self::Copy(transfer) | Self::StagedCopy(transfer, _) => transfer.is_of_word(),
            Self::Fill(fill) => fill.is_of_word(),
            _ => false,
        }
    }

    /// What reports call it, if it touches memory and does not tell so itself.
    fn name(&self) -> Option<String> {
        match self {
            Self::Copy(transfer) | Self::StagedCopy(transfer, _) => {
                Some(format!("a copy of {} bytes", transfer.bytes()))
            }
            Self::Fill(fill) => Some(format!("a memset of {} bytes", fill.bytes())),
            Self::Discard(discard) => Some(format!("a discard of {} bytes", discard.bytes())),
            Self::Memory(_) => Some("operations on words".to_owned()),
            Self::Free(_) => Some("cuMemFreeAsync".to_owned()),
            Self::GraphAllocate(_) => Some("an allocation of a graph".to_owned()),
            Self::GraphFree(_, by) => Some((*by).to_owned()),
            Self::Empty
            | Self::Kernel(_)
            | Self::Host(_)
            | Self::SemaphoreSignal(_)
            | Self::SemaphoreWait(_)
            | Self::EventRecord(_)
            | Self::EventWait(_) => None,
        }
    }

    /// Its piece of work has ended.
    fn end(&self, piece: order_check::Running<'_>) {
        match self {
            Self::GraphFree(allocation, _) => {
                piece.end_of(allocation.address(), allocation.placement.bytes);
            }
            Self::Free(address) => {
                let bytes = Memory::global().find(*address).map_or(0, |info| info.len);
                piece.end_of(*address, bytes);
            }
            _ => piece.end(self.touched()),
        }
    }

    /// Which memory that the driver knows it touches, as far as it tells so itself.
    fn touched(&self) -> Touched {
        let mut touched = Touched::default();
        match self {
            Self::Copy(transfer) | Self::StagedCopy(transfer, _) => {
                transfer.touches(|class, address, bytes| touched.add(class, address, bytes));
            }
            Self::Fill(fill) => {
                fill.touches(|class, address, bytes| touched.add(class, address, bytes));
            }
            Self::Discard(discard) => {
                discard.touches(|class, address, bytes| touched.add(class, address, bytes));
            }
            Self::Memory(batch) => {
                batch.touches(|class, address, bytes| touched.add(class, address, bytes));
            }
            Self::GraphAllocate(allocation) => {
                let bytes = allocation.placement.bytes as u64;
                touched.add(Class::Allocate, allocation.address() as u64, bytes);
            }
            Self::Empty
            | Self::Kernel(_)
            | Self::Host(_)
            | Self::SemaphoreSignal(_)
            | Self::SemaphoreWait(_)
            | Self::EventRecord(_)
            | Self::EventWait(_)
            | Self::Free(_)
            | Self::GraphFree(..) => {}
        }
        touched
    }
}
