//! The host side of GPU programs: devices, memory, streams, typed launches, graphs, safely and on `cust`.
//!
//! ```no_run
//! # use warpsmith_device::prelude::*;
//! # #[kernel]
//! # pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {}
//! # const PTX: &str = "";
//! use warpsmith_host::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let gpu = Gpu::open_default()?;                  // a GPU, or the simulator
//! let saxpy = gpu.load(PTX)?.kernel(saxpy)?;
//! let stream = gpu.stream()?;
//! let x = stream.upload(&[1.0, 2.0, 3.0])?;
//! let mut y = stream.upload(&[1.0, 1.0, 1.0])?;
//! stream.launch(&saxpy, Grid::cover(3, 256), (2.0, &x, &mut y))?;
//! assert_eq!(stream.download(&y)?, [3.0, 5.0, 7.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # What safe code cannot do
//!
//! Read uninitialised memory; use memory after it was freed or free it while it is used; let two uses of memory race, in one
//! stream or in several, by the host or by graphs; pass a kernel arguments of the wrong number or type, or one buffer twice where it
//! is written; break a context by dropping things in the wrong order or on the wrong thread. None of this depends on destructors
//! being run. What remains are errors, and each says what to do: see [`Error`].
//!
//! Raw pointers, foreign PTX and `unsafe fn` kernels are launched by `unsafe` calls.
//!
//! # What is cust and what is not
//!
//! [`cust`](https://docs.rs/cust) starts the driver, lists devices, holds the primary context, and owns streams, events, modules and
//! pinned memory. The rest calls the driver through `warpsmith_driver`, for one of these reasons:
//! - the result code matters: `cust` keeps codes in a Rust enum of CUDA 11.4, so a newer code reaches it as `CUDA_ERROR_UNKNOWN` (the
//!   driver seam sees to that). Launches, waits, queries, copies, graphs and captures can answer any code;
//! - `cust` has it wrong for us: it removes `NON_BLOCKING` from streams (we create them and hand them over), its event waits consume the
//!   event, its context does not look at whether it became current;
//! - `cust` lacks it: logs of the PTX compiler, launch attributes, function attributes, advice, prefetch, attachment, graphs, captures.
//!
//! # Threads
//!
//! Everything but graphs under construction can be shared between threads. Each call makes the context current on its thread if it is
//! not and the driver looks at it; launches, allocations and frees name their stream, which is enough. Objects may be dropped in any order
//! and on any thread; the context is released with the last of them.

mod context;
mod driver_call;
mod error;
mod gpu;
mod graph;
pub mod interop;
pub mod interprocess;
mod launch;
mod memory;
mod module;
mod order;
mod panics;
mod reclaim;
mod settings;
mod simulator;
mod stream;
mod sync;
pub mod trace;

pub use context::attribute::Attribute;
pub use context::capability::ComputeCapability;
pub use context::choice::{DeviceChoice, DeviceInfo};
pub use context::uuid::Uuid;
pub use error::{
    Busy, Code, DriverError, DropErrorHook, Error, GraphUpdateError, HostFunctionPanic,
    KernelFault, KernelPanic, LimitError, Misuse, Node, NotFound, PtxError, Refused, Result,
    Unfinished, Unsupported, set_drop_error_hook,
};
pub use gpu::Gpu;
pub use gpu::driver_variables::DriverVariables;
pub use gpu::info::{CudaVersion, GraphMemoryUsage, MemoryInfo};
pub use gpu::limits::ContextLimit;
pub use gpu::pointer::{PointerAccess, PointerAttributes, PointerMemory};
pub use gpu::profiler::ProfilerGuard;
pub use gpu::properties::DeviceProperties;
pub use gpu::unified_support::UnifiedSupport;
pub use graph::{
    Capture, ChildNode, Condition, CopyNode, DeviceGraph, Edge, EdgeKind, EventRecordNode,
    EventWaitNode, FillNode, FlagNode, Graph, GraphBuilder, GraphExec, HostNode, KernelNode,
    NodeHandle, SwitchableNode,
};
pub use launch::{
    Argument, Arguments, ClusterScheduling, ClusterSizes, Dim3, EarlyParameters,
    FunctionAttributes, Grid, LaunchOptions, Occupancy, SuggestedBlock, Trigger, TypedKernel,
    UntypedKernel,
};
pub use memory::{
    AccessPolicyWindow, AccessProperty, AddressMode, Advice, AnyBuffer, Arena, Array, ArrayExtents,
    Attach, Chunks, CombinedWrite, Coordinates, CopyBatch, Cube, DeviceBuffer, DevicePointer,
    DeviceRead, DeviceSlice, DeviceSliceMut, DeviceWrite, DiscardBatch, Download, Extent1, Extent2,
    Extent3, ExternalArrayOptions, ExternalMemory, ExternalMemoryOptions, Filter, FlagOperations,
    FlagWord, ForeignCall, ForeignMemory, ForeignOutcome, ForeignUse, ForeignWork, Gather2,
    GrowableBuffer, HintedLocation, HostRead, HostWrite, ImportedPool, LayerExtents, Layered1,
    Layered2, LayeredCube, LevelExtents, LevelOptions, LinearTexture, Location, MappedBuffer,
    MappingAccess, Matrix, MatrixMut, MemoryPool, MipmappedArray, MipmappedTexture, MissProperty,
    MulticastBuffer, MulticastReplica, NormalisedTexel, PeerAccess, PhysicalMemory,
    PhysicalOptions, PinnedBuffer, PinnedRead, PinnedSlice, PinnedSliceMut, PinnedWrite,
    PitchedBuffer, PitchedTexture, PitchedVolume, PoolAllocator, PoolOptions, PoolPointer,
    PoolUsage, PrefetchBatch, RegisteredBuffer, ReusePolicy, Revocable, SharedAtomics, SharedWord,
    StreamFlag, Surface, Texel, TexelView, Texture, TextureOptions, UnifiedBuffer, UnifiedHints,
    UnifiedUninit, VolumeMut, Wait, WriteCombinedBuffer, compressed,
};
pub use module::Module;
pub use module::global::Global;
pub use module::managed::ManagedStatic;
pub use module::options::ModuleOptions;
pub use stream::attributes::{MemSyncDomain, MemSyncDomainMap, SynchronizationPolicy};
pub use stream::completion::Completion;
pub use stream::default::PerThreadStream;
pub use stream::event::{Event, EventOptions};
pub use stream::semaphore::{ExternalSemaphore, ExternalTimeline, SemaphorePoint};
pub use stream::{Stream, StreamOptions, StreamPriorities};

/// Faults on the simulator as data: what [`KernelFault`] gives.
pub mod fault {
    pub use warpsmith_abi::fault::{
        AccessKind, Fault, FaultAccess, FaultKind, FaultOrigin, Frame, InlinedCall, MemorySpace,
        NearestAllocation, OtherSide, SourceLocation, WaitingThreads,
    };
}

pub use warpsmith_simulator::observe;

/// What a program needs, and the markers that describe parameters of foreign PTX.
pub mod prelude {
    pub use crate::{
        Advice, Attach, Attribute, ClusterSizes, Code, ComputeCapability, Condition, DeviceBuffer,
        DeviceChoice, DeviceGraph, DevicePointer, DeviceRead, DeviceSlice, DeviceSliceMut,
        DeviceWrite, Dim3, Error, Event, Global, Gpu, Graph, GraphExec, Grid, GrowableBuffer,
        Location, MappedBuffer, Module, ModuleOptions, PerThreadStream, PinnedBuffer, PinnedSlice,
        PinnedSliceMut, PitchedBuffer, Result, Stream, StreamFlag, StreamOptions, TypedKernel,
        UnifiedBuffer, UntypedKernel, Wait,
    };
    pub use warpsmith_device::launch::{
        ConditionHandle, GraphHandle, In, InMatrix, InRef, InTexture, Kernel, Out, OutMatrix,
        OutSurface, OutVolume, RawPtr, SafeKernel, SurfaceObject, TextureObject, Value,
    };
}

/// The book's pages on this crate and on the simulator: their examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/src/howto/host.md")]
#[doc = include_str!("../../docs/src/howto/memory.md")]
#[doc = include_str!("../../docs/src/howto/arrays.md")]
#[doc = include_str!("../../docs/src/howto/sharing.md")]
#[doc = include_str!("../../docs/src/howto/streams.md")]
#[doc = include_str!("../../docs/src/howto/graphs.md")]
#[doc = include_str!("../../docs/src/howto/interop.md")]
#[doc = include_str!("../../docs/src/howto/launch-attributes.md")]
#[doc = include_str!("../../docs/src/howto/simulator.md")]
#[doc = include_str!("../../docs/src/howto/unified-memory.md")]
#[doc = include_str!("../../docs/src/howto/faults.md")]
#[doc = include_str!("../../docs/src/howto/panics.md")]
#[doc = include_str!("../../docs/src/howto/indices.md")]
struct HowTo;

#[cfg(test)]
mod tests {
    use std::panic::{RefUnwindSafe, UnwindSafe};

    use super::*;

    fn shared<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    /// As `&mut` references, which are not unwind safe.
    fn exclusive<T: Send + Sync + RefUnwindSafe>() {}
    fn sent<T: Send>() {}

    /// Compiles or not; `tests/ui/not_send.rs` has the other side.
    #[test]
    fn everything_goes_to_other_threads_and_through_panics_that_are_caught() {
        shared::<Gpu>();
        shared::<Stream>();
        shared::<Event>();
        shared::<Module>();
        shared::<TypedKernel<()>>();
        shared::<UntypedKernel<()>>();
        shared::<Global<u32>>();
        shared::<ManagedStatic<u32>>();
        shared::<DeviceBuffer<f32>>();
        shared::<DeviceSlice<'static, f32>>();
        exclusive::<DeviceSliceMut<'static, f32>>();
        exclusive::<Chunks<DeviceSliceMut<'static, f32>>>();
        shared::<Download<'static, f32>>();
        shared::<Completion<'static>>();
        shared::<ProfilerGuard>();
        shared::<PinnedBuffer<f32>>();
        shared::<PinnedSlice<'_, f32>>();
        exclusive::<PinnedSliceMut<'_, f32>>();
        shared::<MappedBuffer<f32>>();
        shared::<RegisteredBuffer<f32>>();
        shared::<SharedAtomics<u32>>();
        shared::<WriteCombinedBuffer<f32>>();
        shared::<UnifiedBuffer<f32>>();
        shared::<UnifiedUninit<f32>>();
        shared::<CopyBatch<'static>>();
        shared::<PrefetchBatch<'static>>();
        shared::<DiscardBatch<'static>>();
        shared::<GrowableBuffer<f32>>();
        shared::<PitchedBuffer<f32>>();
        shared::<PitchedVolume<f32>>();
        shared::<Array<f32, Extent2>>();
        shared::<Texture<f32, Extent2>>();
        shared::<MipmappedArray<f32, Extent2>>();
        shared::<MipmappedTexture<f32, Extent2>>();
        shared::<Surface<f32, Extent2>>();
        shared::<LinearTexture<'static, f32>>();
        shared::<PitchedTexture<'static, f32>>();
        shared::<PhysicalMemory>();
        shared::<ExternalMemory>();
        shared::<ForeignOutcome>();
        shared::<ExternalSemaphore>();
        shared::<ExternalTimeline>();
        shared::<SemaphorePoint<'static>>();
        shared::<interop::dlpack::Tensor>();
        shared::<MemoryPool>();
        shared::<PeerAccess>();
        shared::<ImportedPool>();
        shared::<HostRead<'static, f32>>();
        exclusive::<HostWrite<'static, f32>>();
        shared::<StreamFlag<u32>>();
        shared::<GraphExec>();
        shared::<DeviceGraph>();
        shared::<Error>();
        sent::<Graph>();
    }
}
