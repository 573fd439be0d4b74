//! Memory whose last owner was dropped: how it is freed, and after which uses.

use std::sync::{Arc, Mutex};

use smallvec::SmallVec;
use warpsmith_driver::raw;

use super::array::block::{ArrayBlock, UnusedArray};
use super::array::texture_objects::{TextureObjects, UnusedTextures};
use super::host_block::HostBlock;
use super::pool::handle::PoolHandle;
use super::pool::taken::TakenBuffer;
use super::virtual_memory::range::{AddressRange, UnusedRange};
use crate::context::primary::Context;
use crate::driver_call::call;
use crate::error::Result;
use crate::gpu::open_device::DeviceState;
use crate::order::graph_memory::GraphMemory;
use crate::order::pool_lane::PoolLane;
use crate::order::position::StreamPosition;
use crate::reclaim::{FreeCost, Reclaim};
use crate::sync::lock;
use crate::trace::track::Track;
use crate::trace::work::Work;

/// Where memory comes from and so how it is freed.
#[derive(Clone, Debug)]
pub(crate) enum MemoryKind {
    /// From a pool, allocated in the stream that has this lane: freed in stream order.
    Pool(Arc<PoolLane>),
    /// From a pool that the program made or imported, which it has a share of until its free is enqueued: freed in stream order.
    OwnPool {
        _pool: Arc<PoolHandle>,
        /// The memory is the host's.
        is_of_host: bool,
        /// What keeps an imported pool from giving the same buffer once more.
        _taken: Option<Arc<TakenBuffer>>,
    },
    /// Page-locked host memory.
    Pinned(HostBlock),
    /// Managed memory.
    Managed,
    /// Device memory that other processes may open.
    Exportable,
    /// Device memory of another process.
    Opened,
    /// Device memory that somebody else owns.
    Foreign(Arc<GiveBack>),
    /// Reserved addresses with what is mapped there.
    Virtual(Arc<AddressRange>),
    /// The texels of a CUDA array, which has no address.
    Array(Arc<ArrayBlock>),
    /// Allocated and freed by nodes of a graph.
    Graph(Arc<GraphMemory>),
    /// Host memory whose owner took it back.
    GivenBack,
}

/// What gives memory back to its owner, once.
pub(crate) struct GiveBack(Mutex<Option<Box<dyn Reclaim>>>);

impl GiveBack {
    pub(crate) fn new(give_back: Box<dyn Reclaim>) -> GiveBack {
        GiveBack(Mutex::new(Some(give_back)))
    }
}

impl std::fmt::Debug for GiveBack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GiveBack")
    }
}

/// What is left of an allocation.
pub(crate) struct ReleasedMemory {
    pub(crate) base: raw::CUdeviceptr,
    pub(crate) bytes: usize,
    pub(crate) kind: MemoryKind,
    /// The last uses.
    pub(crate) positions: SmallVec<[StreamPosition; 1]>,
    /// What reads it as texels.
    pub(crate) textures: Option<Arc<TextureObjects>>,
}

impl ReleasedMemory {
    /// Frees it after its last uses, without waiting for them.
    pub(crate) fn free(self, gpu: &DeviceState) {
        if let Some(textures) = &self.textures {
            gpu.retire(Box::new(UnusedTextures(textures.clone())), &self.positions);
        }
        match &self.kind {
            MemoryKind::Pool(_) | MemoryKind::OwnPool { .. } => {
                gpu.report_drop(self.free_in_stream_order(gpu));
            }
            MemoryKind::Virtual(range) => {
                gpu.retire(Box::new(UnusedRange(range.clone())), &self.positions);
            }
            &MemoryKind::Pinned(block) => gpu.retire(Box::new(block), &self.positions),
            MemoryKind::Array(block) => {
                gpu.retire(Box::new(UnusedArray(block.clone())), &self.positions);
            }
            MemoryKind::Foreign(give_back) => {
                if let Some(give_back) = lock(&give_back.0).take() {
                    gpu.retire(give_back, &self.positions);
                }
            }
            // Its nodes free it.
            MemoryKind::Graph(_) => {}
            MemoryKind::GivenBack => {}
            kind @ (MemoryKind::Managed | MemoryKind::Exportable | MemoryKind::Opened) => {
                let block = PlainBlock {
                    base: self.base,
                    bytes: self.bytes,
                    is_own: !matches!(kind, MemoryKind::Opened),
                };
                gpu.retire(Box::new(block), &self.positions);
            }
        }
    }

    /// Frees in the stream that used the memory; where there were several, in this crate's follower stream, behind them.
    // covers: POOL-04, POOL-07
    fn free_in_stream_order(&self, gpu: &DeviceState) -> Result<()> {
        gpu.bind()?;
        let guard = gpu.lock_order();
        if let [StreamPosition::End(only)] = &self.positions[..]
            && !only.is_captured()
            && only.is_in(gpu.context())
        {
            return gpu.traced(
                || Track::of(only),
                || Work::call("cuMemFreeAsync", self.bytes),
                // SAFETY: the allocation that owned the memory was dropped, and all its uses came before in this stream, which `only`
                // keeps alive.
                || unsafe { call!(cuMemFreeAsync(self.base, only.raw())) },
            );
        }
        let follower = gpu.context().follower_stream()?;
        for position in &self.positions {
            let held_back = position.hold_back(&guard, follower);
            // Another device's context that is lost has nothing that runs any more.
            if position.is_in(gpu.context()) {
                held_back?;
            }
        }
        gpu.traced(
            || Some(Track::follower(follower)),
            || Work::call("cuMemFreeAsync", self.bytes),
            // SAFETY: the allocation that owned the memory was dropped, and the follower stream waits for all its uses since the loop
            // above.
            || unsafe { call!(cuMemFreeAsync(self.base, follower.raw())) },
        )
    }
}

/// Memory that waits to be freed, or to be given up if it is another process's.
struct PlainBlock {
    base: raw::CUdeviceptr,
    bytes: usize,
    is_own: bool,
}

impl Reclaim for PlainBlock {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn free_cost(&self) -> FreeCost {
        FreeCost::WaitsForIdleDevice
    }

    fn free(self: Box<Self>, _context: &Context) -> Result<()> {
        // SAFETY: cuMemAllocManaged, cuMemAlloc or cuIpcOpenMemHandle gave the memory to the allocation that was dropped, the last if it
        // is not this process's own; `Reclaim::free` is called when nothing on the device uses it.
        unsafe {
            match self.is_own {
                true => call!(cuMemFree_v2(self.base)),
                false => call!(cuIpcCloseMemHandle(self.base)),
            }
        }
    }
}
