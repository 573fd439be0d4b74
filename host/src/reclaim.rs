//! Things that are no longer wanted but may still be in use on the device: they wait here, each with events that tell when it is
//! free, and are looked through at the next wait or allocation. So no destructor blocks and nothing is freed in use.
//!
//! Device memory does not come here, the driver frees it in stream order. Host memory, modules and graphs' closures do.

use std::any::Any;
use std::sync::Arc;

use crate::gpu::{GpuInner, lock};
use crate::panics::PanicSlot;
use crate::raw::{self, call};
use crate::stream::StreamInner;

/// Something that waits, and what it waits for.
pub(crate) struct Retired {
    what: Remains,
    events: Vec<raw::CUevent>,
}

/// How to free it.
pub(crate) enum Remains {
    /// Pinned host memory.
    Pinned(*mut u8),
    /// Managed memory.
    Managed(raw::CUdeviceptr),
    /// A module, and where its kernels leave their panics.
    Module(cust::module::Module, Option<Arc<PanicSlot>>),
    /// Anything whose drop calls no driver function that could block.
    Value(#[allow(dead_code)] Box<dyn Any + Send>),
}

// SAFETY: pointers and handles of the driver may be freed by any thread.
unsafe impl Send for Retired {}

impl GpuInner {
    /// Frees `what` once all work enqueued so far in `streams` is done, at once if it is already.
    pub(crate) fn retire(&self, what: Remains, streams: &[Arc<StreamInner>]) {
        if let Err(error) = self.bind() {
            return self.report_drop(Err(error));
        }
        let mut events = Vec::new();
        {
            let _order = self.order();
            for stream in streams {
                match stream.mark() {
                    Ok(None) => {}
                    Ok(Some(event)) => events.push(event),
                    Err(error) => self.report_drop(Err(error)),
                }
            }
        }
        if events.is_empty() {
            what.free(self);
        } else {
            lock(&self.retired).push(Retired { what, events });
        }
    }

    /// The streams that are alive, for things that any of them may use.
    pub(crate) fn live_streams(&self) -> Vec<Arc<StreamInner>> {
        let mut streams = lock(&self.streams);
        streams.retain(|stream| stream.strong_count() > 0);
        streams
            .iter()
            .filter_map(std::sync::Weak::upgrade)
            .collect()
    }

    /// Frees what is free by now.
    pub(crate) fn reclaim(&self) {
        self.adopt_orphans();
        let done: Vec<Retired> = {
            let mut retired = lock(&self.retired);
            if retired.is_empty() {
                return;
            }
            let (done, waiting) = retired.drain(..).partition(Retired::is_done);
            *retired = waiting;
            done
        };
        // Outside of the lock: freeing may retire something else.
        done.into_iter().for_each(|retired| retired.free(self));
    }

    /// Frees everything. The device is idle or lost.
    pub(crate) fn reclaim_all(&self) {
        self.adopt_orphans();
        loop {
            let all = std::mem::take(&mut *lock(&self.retired));
            if all.is_empty() {
                return;
            }
            all.into_iter().for_each(|retired| retired.free(self));
        }
    }
}

impl Retired {
    fn is_done(&self) -> bool {
        // SAFETY: the events are ours, recorded outside of any capture. An error means that the context is lost: free then too.
        self.events.iter().all(
            |&event| unsafe { raw::cuEventQuery(event) } != raw::CUresult::CUDA_ERROR_NOT_READY,
        )
    }

    fn free(self, gpu: &GpuInner) {
        for event in self.events {
            // SAFETY: made by `mark`, owned here.
            gpu.report_drop(unsafe { call!(cuEventDestroy_v2(event)) });
        }
        self.what.free(gpu);
    }
}

impl Remains {
    fn free(self, gpu: &GpuInner) {
        let result = match self {
            // SAFETY: allocated by `cuda_malloc_locked` or cuMemHostAlloc, and no longer in use by host or device.
            Remains::Pinned(pointer) => unsafe { cust::memory::cuda_free_locked(pointer) }
                .map_err(|error| raw::cust_failed("cuMemFreeHost", error)),
            // SAFETY: allocated by cuMemAllocManaged, and no longer in use.
            Remains::Managed(pointer) => unsafe { call!(cuMemFree_v2(pointer)) },
            Remains::Module(module, panics) => {
                if let Some(panics) = panics {
                    gpu.unwatch(&panics);
                    Remains::Pinned(panics.memory()).free(gpu);
                }
                cust::module::Module::drop(module).map_err(|(error, module)| {
                    std::mem::forget(module);
                    raw::cust_failed("cuModuleUnload", error)
                })
            }
            Remains::Value(_) => Ok(()),
        };
        gpu.report_drop(result);
    }
}
