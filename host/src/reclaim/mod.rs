//! Things that are no longer wanted but may still be in use on the device: they wait here, each with events that tell when it is
//! free, and are looked through at the next wait or allocation. So no destructor blocks and nothing is freed in use.
//!
//! Device memory does not come here, the driver frees it in stream order. Host memory, managed memory and modules do: the driver lets
//! go of those only when the *whole* device is idle, holding up every thread that calls it meanwhile. So they are freed when all
//! streams are idle anyway, and host memory is used again for the next request of its size.

use std::any::Any;
use std::sync::Arc;

use crate::context::{GpuInner, lock};
use crate::driver_call::{self, call};
use crate::error::Result;
use crate::module::panics::PanicSlot;
use crate::order::uses::Place;
use crate::stream::StreamInner;
use warpsmith_driver::raw;

/// Something that waits, and what it waits for.
pub(crate) struct Retired {
    what: Remains,
    events: Vec<raw::CUevent>,
}

/// How to free it.
pub(crate) enum Remains {
    /// Page-locked host memory.
    Host(HostBlock),
    /// Managed memory.
    Managed(raw::CUdeviceptr, usize),
    /// A module, and where its kernels leave their panics.
    Module(cust::module::Module, Option<Arc<PanicSlot>>),
    /// Anything whose drop calls no driver function that could block.
    Value(#[allow(dead_code)] Box<dyn Any + Send>),
}

/// Page-locked host memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HostBlock {
    pub(crate) host: *mut u8,
    /// The device's address; 0 for memory that only copies reach.
    pub(crate) device: u64,
    pub(crate) bytes: usize,
}

/// More bytes than this are not kept waiting for an idle device: then the host has to.
const MOST_BYTES: usize = 1 << 30;

// SAFETY: pointers and handles of the driver may be freed by any thread.
unsafe impl Send for Retired {}

impl GpuInner {
    /// Frees `what` some time after these places in the order are past.
    pub(crate) fn retire(&self, what: Remains, places: &[Place]) {
        if let Err(error) = self.bind() {
            return self.report_drop(Err(error));
        }
        let mut events = Vec::new();
        {
            let _order = self.order();
            for place in places {
                match place.event() {
                    Ok(None) => {}
                    Ok(Some(event)) => events.push(event),
                    Err(error) => self.report_drop(Err(error)),
                }
            }
        }
        lock(&self.retired).push(Retired { what, events });
        self.reclaim();
    }

    /// Host memory of this size that is free again; its contents are old.
    pub(crate) fn spare_host_memory(&self, bytes: usize, mapped: bool) -> Option<HostBlock> {
        let mut retired = lock(&self.retired);
        let place = retired.iter().position(|retired| {
            matches!(retired.what, Remains::Host(block) if block.bytes == bytes && (block.device != 0) == mapped) && retired.is_done()
        })?;
        let spare = retired.swap_remove(place);
        drop(retired);
        spare.destroy_events(self);
        match spare.what {
            Remains::Host(block) => Some(block),
            _ => None,
        }
    }

    /// As [`retire`](Self::retire), for things that any stream may be using.
    pub(crate) fn retire_from_all(&self, what: Remains) {
        let places: Vec<Place> = self.live_streams().into_iter().map(Place::Stream).collect();
        self.retire(what, &places);
    }

    /// The streams that are alive.
    pub(crate) fn live_streams(&self) -> Vec<Arc<StreamInner>> {
        let mut streams = lock(&self.streams);
        streams.retain(|stream| stream.strong_count() > 0);
        streams
            .iter()
            .filter_map(std::sync::Weak::upgrade)
            .collect()
    }

    fn is_idle(&self) -> Result<bool> {
        let streams = self.live_streams();
        let _order = self.order();
        streams
            .iter()
            .try_fold(true, |idle, stream| Ok(idle && stream.past_is_done()?))
    }

    /// Frees what is free by now.
    pub(crate) fn reclaim(&self) {
        self.adopt_orphans();
        if lock(&self.retired).is_empty() {
            return;
        }
        // An error means that the context is lost.
        let idle = self.is_idle().unwrap_or(true);
        let done: Vec<Retired> = {
            let mut retired = lock(&self.retired);
            let waiting: usize = retired.iter().map(|retired| retired.what.bytes()).sum();
            let blocking_is_fine = idle || waiting > MOST_BYTES;
            let (done, waiting) = retired.drain(..).partition(|retired| {
                (blocking_is_fine || !retired.what.needs_an_idle_device()) && retired.is_done()
            });
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
        self.events.iter().all(|&event| {
            // SAFETY: the events are ours, recorded outside of any capture. An error means that the context is lost: done then too.
            let answer = unsafe { raw::cuEventQuery(event) };
            answer != raw::CUresult::CUDA_ERROR_NOT_READY
        })
    }

    fn destroy_events(&self, gpu: &GpuInner) {
        for &event in &self.events {
            // SAFETY: made by `Place::event`, owned here; called once, before `self` goes.
            gpu.report_drop(unsafe { call!(cuEventDestroy_v2(event)) });
        }
    }

    fn free(self, gpu: &GpuInner) {
        self.destroy_events(gpu);
        gpu.report_drop(self.what.free(gpu));
    }
}

impl Remains {
    fn needs_an_idle_device(&self) -> bool {
        !matches!(self, Remains::Value(_))
    }

    fn bytes(&self) -> usize {
        match self {
            Remains::Host(HostBlock { bytes, .. }) | Remains::Managed(_, bytes) => *bytes,
            Remains::Module(..) | Remains::Value(_) => 0,
        }
    }

    fn free(self, gpu: &GpuInner) -> Result<()> {
        match self {
            // SAFETY: allocated by `cuda_malloc_locked` or cuMemHostAlloc, and no longer in use by host or device.
            Remains::Host(block) => unsafe { cust::memory::cuda_free_locked(block.host) }
                .map_err(|error| driver_call::cust_failed("cuMemFreeHost", error)),
            // SAFETY: allocated by cuMemAllocManaged, and no longer in use.
            Remains::Managed(pointer, _) => unsafe { call!(cuMemFree_v2(pointer)) },
            Remains::Module(module, panics) => {
                let freed = panics.map_or(Ok(()), |panics| {
                    gpu.unwatch(&panics);
                    Remains::Host(panics.memory()).free(gpu)
                });
                let unloaded = cust::module::Module::drop(module).map_err(|(error, module)| {
                    std::mem::forget(module);
                    driver_call::cust_failed("cuModuleUnload", error)
                });
                freed.and(unloaded)
            }
            Remains::Value(_) => Ok(()),
        }
    }
}
