//! The device runtime: what kernels call that is not in their own code.

pub(crate) mod conditions;

use std::sync::Arc;

use crate::context::Context;
use crate::engine::Runtime;
use crate::memory::{AllocationKind, AllocationState, Memory};
use crate::report;
use warpsmith_abi::fault::{Fault, FaultKind};

/// The device runtime of one context.
pub(crate) struct DeviceRuntime<'a> {
    context: &'a Context,
}

impl<'a> DeviceRuntime<'a> {
    pub(crate) fn new(context: &'a Context) -> Self {
        Self { context }
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

    fn call(&self, name: &str, arguments: &[u64]) -> Option<u64> {
        match (name, arguments) {
            ("cudaGraphSetConditional", &[handle, value]) => {
                if !conditions::set(handle, value as u32) {
                    let text = format!(
                        "cudaGraphSetConditional was called with {handle:#x}, which is no conditional handle"
                    );
                    // The call has no effect on a device either, so the context stays usable.
                    report::fault(&Arc::new(Fault::outside_kernels(FaultKind::Other, text)));
                }
                Some(0)
            }
            _ => None,
        }
    }
}
