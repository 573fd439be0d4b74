//! Memory of pools, which is allocated in the order of a stream.

use std::sync::Arc;

use warpsmith_driver::raw;

use super::allocation::Allocation;
use super::pool::handle::PoolHandle;
use super::pool::taken::TakenBuffer;
use super::released::MemoryKind;
use crate::driver_call::handle::Handle;
use crate::driver_call::{self, call, check};
use crate::error::{Code, Result};
use crate::order::access::Access;
use crate::order::history::UseHistory;
use crate::stream::Stream;
use crate::trace::track::Track;
use crate::trace::work::Work;

impl Allocation {
    /// Device memory, usable in `stream` from here on and by others after it. Uninitialised.
    /// From a pool of the stream's device, or from its current one.
    // covers: POOL-02, POOL-09, POOL-12
    #[inline(always)]
    pub(crate) fn in_stream(
        stream: &Stream,
        pool: Option<&Arc<PoolHandle>>,
        bytes: usize,
    ) -> Result<Arc<Allocation>> {
        let base = Allocation::enqueue(stream, pool.map(|pool| pool.handle()), bytes)?;
        match pool.filter(|pool| pool.is_of_program()) {
            None => Ok(Allocation::pooled(stream, base, bytes)),
            Some(pool) => {
                let kind = MemoryKind::OwnPool {
                    _pool: pool.clone(),
                    is_of_host: pool.is_of_host(),
                    _taken: None,
                };
                Ok(Allocation::pooled_anew(stream, base, bytes, kind))
            }
        }
    }

    /// Memory of the graph that the stream's capture makes, usable in the capture from here on: each launch has it anew. Uninitialised. Of the pool it has
    /// the properties alone.
    // covers: GMEM-06
    pub(crate) fn in_capture(
        stream: &Stream,
        pool: Option<Handle<raw::CUmemoryPool>>,
        bytes: usize,
    ) -> Result<Arc<Allocation>> {
        let gpu = &stream.gpu;
        gpu.bind()?;
        let guard = gpu.lock_order();
        let capture = gpu.order().capture_of(&guard, &stream.handle);
        let capture = capture.ok_or_else(|| {
            driver_call::failed("cuMemAllocAsync", Code::STREAM_CAPTURE_INVALIDATED)
        })?;
        capture.check_allocation(&stream.handle)?;
        let base = Allocation::enqueue(stream, pool, bytes).map_err(|error| match pool {
            Some(_) if error.code() == Some(Code::NOT_SUPPORTED) => error.and_doing(|| {
                "in a capture: a graph has no memory of a pool that other processes may open, use another pool there"
                    .into()
            }),
            _ => error,
        })?;
        let allocation = Allocation::of_graph(gpu, base, bytes, capture.number());
        capture.order_use(
            &guard,
            allocation.clone(),
            &stream.handle,
            Access::EVERYTHING,
        )?;
        Ok(allocation)
    }

    /// Enqueues an allocation; where it will be.
    #[inline(always)]
    fn enqueue(
        stream: &Stream,
        pool: Option<Handle<raw::CUmemoryPool>>,
        bytes: usize,
    ) -> Result<u64> {
        let gpu = &stream.gpu;
        gpu.limits().require_pools()?;
        let mut base = 0;
        let allocated = if gpu.is_traced() {
            Allocation::ask_driver_traced(stream, pool, bytes, &mut base)
        } else {
            Allocation::ask_driver(stream, pool, bytes, &mut base)
        };
        match allocated {
            Ok(()) => Ok(base),
            Err(error) => Err(error.while_doing(|| format!("{bytes} bytes"))),
        }
    }

    /// The driver's part of [`enqueue`](Self::enqueue).
    #[inline(always)]
    fn ask_driver(
        stream: &Stream,
        pool: Option<Handle<raw::CUmemoryPool>>,
        bytes: usize,
        base: &mut u64,
    ) -> Result<()> {
        let raw = stream.handle.raw();
        // SAFETY: the driver writes one address to `base`, which outlives the call; `stream` owns the stream, and the caller has the pool.
        let code = stream.gpu.context().call_in_stream(raw, move || unsafe {
            match pool {
                None => raw::cuMemAllocAsync(base, bytes, raw),
                Some(pool) => raw::cuMemAllocFromPoolAsync(base, bytes, pool.raw(), raw),
            }
        });
        check("cuMemAllocAsync", code)
    }

    #[cold]
    fn ask_driver_traced(
        stream: &Stream,
        pool: Option<Handle<raw::CUmemoryPool>>,
        bytes: usize,
        base: &mut u64,
    ) -> Result<()> {
        stream.gpu.traced(
            || Track::of(&stream.handle),
            || Work::call("cuMemAllocAsync", bytes),
            || Allocation::ask_driver(stream, pool, bytes, base),
        )
    }

    /// Memory of a pool, this process's or an imported one, whose address was just given: usable in `stream` from here on and by others
    /// after it.
    #[inline]
    pub(crate) fn pooled(stream: &Stream, base: u64, bytes: usize) -> Arc<Allocation> {
        match Allocation::of_freed_block(stream, base, bytes) {
            Some(allocation) => allocation,
            None => {
                let kind = MemoryKind::Pool(stream.handle.lane().clone());
                Allocation::pooled_anew(stream, base, bytes, kind)
            }
        }
    }

    /// As [`pooled`](Self::pooled), of an imported pool.
    ///
    /// # Errors
    ///
    /// The context is lost; then nobody frees the memory.
    pub(super) fn imported(
        stream: &Stream,
        pool: &Arc<PoolHandle>,
        taken: TakenBuffer,
        base: u64,
        bytes: usize,
    ) -> Result<Arc<Allocation>> {
        let mut of = 0_u32;
        // SAFETY: for this attribute the driver writes one `u32` to `of`, which outlives the call; the address is an allocation's.
        unsafe {
            call!(cuPointerGetAttribute(
                (&raw mut of).cast(),
                raw::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                base
            ))
        }?;
        let kind = MemoryKind::OwnPool {
            _pool: pool.clone(),
            is_of_host: of == raw::CUmemorytype::CU_MEMORYTYPE_HOST.0,
            _taken: Some(Arc::new(taken)),
        };
        Ok(Allocation::pooled_anew(stream, base, bytes, kind))
    }

    /// As [`pooled`](Self::pooled), where the stream keeps nothing that describes it.
    #[cold]
    fn pooled_anew(stream: &Stream, base: u64, bytes: usize, kind: MemoryKind) -> Arc<Allocation> {
        let history = UseHistory::begun_in(&stream.handle);
        Allocation::with_history(&stream.gpu, base, bytes, kind, history)
    }
}
