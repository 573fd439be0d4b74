//! The device runtime: what kernels call that is not in their own code.

use std::sync::atomic::Ordering;

use crate::engine::Runtime;
use crate::graph;
use crate::memory::{Kind, Memory, State};
use crate::state::{Context, lock};

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
        let limit = lock(&self.context.limits).malloc_heap;
        let room = |used: usize| used.checked_add(size).filter(|&sum| sum <= limit);
        if self
            .context
            .heap_used
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, room)
            .is_err()
        {
            return 0;
        }
        let made = Memory::global().allocate(
            size,
            Kind::Internal,
            self.context.id(),
            self.context.device,
            "malloc in a kernel",
        );
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
                    && info.state == State::Live
                    && detail.kind == Kind::Internal
            });
        if !is_heap {
            return false;
        }
        match memory.free(address as usize, "free in a kernel") {
            Some((info, _)) => {
                self.context.heap_used.fetch_sub(info.len, Ordering::AcqRel);
                true
            }
            None => false,
        }
    }

    fn call(&self, name: &str, arguments: &[u64]) -> Option<u64> {
        match (name, arguments) {
            ("cudaGraphSetConditional", &[handle, value]) => {
                graph::set_condition(handle, value as u32);
                Some(0)
            }
            _ => None,
        }
    }
}
