//! The device runtime: what kernels call that is not in their own code.

pub(crate) mod conditions;
mod graphs;

pub(crate) use graphs::{GraphLaunchMode, RunningGraph};

use std::sync::Arc;

use crate::context::Context;
use crate::engine::{GRAPH_LAUNCH, Runtime, RuntimeError};
use crate::error::code;
use crate::memory::{AllocationKind, AllocationState, Memory};
use crate::report;
use warpsmith_abi::fault::{Fault, FaultKind};

/// The device runtime of one grid.
pub(crate) struct DeviceRuntime<'a> {
    context: &'a Context,
    graph: Option<&'a dyn RunningGraph>,
}

impl<'a> DeviceRuntime<'a> {
    /// That of a grid in a context, and in a graph if it is a node of one.
    pub(crate) fn new(context: &'a Context, graph: Option<&'a dyn RunningGraph>) -> Self {
        Self { context, graph }
    }

    /// `cudaGraphLaunch`
    fn launch_graph(&self, exec: u64, stream: u64) -> Result<bool, RuntimeError> {
        let Some(graph) = self.graph else {
            return Ok(false);
        };
        match GraphLaunchMode::of_stream(stream) {
            None => Ok(false),
            Some(mode) => graph
                .launch(exec, mode)
                .map_err(|text| RuntimeError::Fault(FaultKind::IllegalAddress, text)),
        }
    }
}

impl Runtime for DeviceRuntime<'_> {
    fn print(&self, text: &[u8]) {
        self.context.print(text);
    }

    fn malloc(&self, size: u64) -> u64 {
        let Some(size) = usize::try_from(size).ok().filter(|&size| size > 0) else {
            return 0;
        };
        if !self.context.take_heap(size) {
            return 0;
        }
        let made = Memory::global().allocate(
            size,
            AllocationKind::Internal,
            self.context.id(),
            self.context.device,
            "malloc in a kernel",
        );
        if made.is_none() {
            self.context.give_heap(size);
        }
        made.unwrap_or(0) as u64
    }

    fn free(&self, address: u64) -> bool {
        if address == 0 {
            return true;
        }
        let memory = Memory::global();
        let is_heap = memory
            .detail(address as usize)
            .is_some_and(|(info, detail)| {
                info.base as u64 == address
                    && info.state == AllocationState::Live
                    && detail.kind == AllocationKind::Internal
            });
        if !is_heap {
            return false;
        }
        match memory.free(address as usize, "free in a kernel") {
            Some((info, _)) => {
                self.context.give_heap(info.len);
                true
            }
            None => false,
        }
    }

    fn current_graph(&self) -> u64 {
        self.graph.map_or(0, RunningGraph::handle)
    }

    fn call(&self, name: &str, arguments: &[u64]) -> Result<u64, RuntimeError> {
        match (name, arguments) {
            ("cudaGraphSetConditional", &[handle, value]) => {
                if !conditions::set(handle, value as u32) {
                    let text = format!(
                        "cudaGraphSetConditional was called with {handle:#x}, which is no conditional handle"
                    );
                    // The call has no effect on a device either, so the context stays usable.
                    report::fault(&Arc::new(Fault::outside_kernels(FaultKind::Other, text)));
                }
                Ok(0)
            }
            (GRAPH_LAUNCH, &[exec, stream]) => Ok(match self.launch_graph(exec, stream)? {
                true => 0,
                false => u64::from(code::INVALID_VALUE.0),
            }),
            _ => Err(RuntimeError::NoSuchFunction),
        }
    }
}
