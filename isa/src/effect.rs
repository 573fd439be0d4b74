//! What an instruction does besides computing its destination registers from its source registers.
//!
//! The words are those of the PTX ISA's chapter on the memory consistency model.

/// A state space, or the part of one that an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// No space in the instruction: the address says which one.
    Generic,
    /// `.global`
    Global,
    /// `.const`
    Const,
    /// `.shared`, `.shared::cta`: the shared memory of the executing block.
    Shared,
    /// `.shared::cluster`: the shared memory of any block of the cluster.
    SharedCluster,
    /// `.local`
    Local,
    /// `.param`
    Parameter,
}

/// What is done to the bytes at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// They are read.
    Read,
    /// They are written.
    Write,
    /// They are read and written in one indivisible step.
    Atomic,
}

impl AccessKind {
    /// Whether the bytes are read.
    #[inline]
    pub const fn reads(self) -> bool {
        !matches!(self, AccessKind::Write)
    }

    /// Whether the bytes are written.
    #[inline]
    pub const fn writes(self) -> bool {
        !matches!(self, AccessKind::Read)
    }
}

/// How an access is ordered (`.sem`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Order {
    /// `.weak`, the default of `ld` and `st`: no synchronisation.
    Weak,
    /// `.volatile`, `.mmio`, `.relaxed`: a strong access that orders nothing else.
    Relaxed,
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    AcquireRelease,
}

impl Order {
    /// Whether the access is a strong one: it may meet other strong accesses without a race.
    #[inline]
    pub const fn is_strong(self) -> bool {
        !matches!(self, Order::Weak)
    }

    /// Whether what follows is ordered after the access.
    #[inline]
    pub const fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcquireRelease)
    }

    /// Whether what precedes is ordered before the access.
    #[inline]
    pub const fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcquireRelease)
    }
}

/// The threads among which a strong access is one (`.scope`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// `.cta`
    Block,
    /// `.cluster`
    Cluster,
    /// `.gpu`
    Device,
    /// `.sys`
    System,
}

/// The path that an access takes to memory; accesses through different ones are ordered by a proxy fence only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proxy {
    /// Ordinary loads, stores and atomics.
    Generic,
    /// Bulk copies and the operands of `wgmma` in shared memory.
    Async,
    /// Loads of the non-coherent path (`ld.global.nc`), textures and surfaces.
    NonCoherent,
    /// The reading of a tensor map by a bulk tensor copy.
    TensorMap,
    /// Reduction and broadcast over several devices (`multimem`).
    Multimem,
}

/// When an access is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Completion {
    /// With the instruction.
    Synchronous,
    /// By the executing thread's `cp.async.wait_group`, `wait_all`, or an mbarrier told by `cp.async.mbarrier.arrive`.
    AsyncGroup,
    /// By the executing thread's `cp.async.bulk.wait_group`.
    BulkGroup,
    /// By the transaction count of the mbarrier that the instruction names.
    Mbarrier,
    /// By the executing warpgroup's `wgmma.wait_group`.
    WgmmaGroup,
}

/// What an access takes its bytes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectUse {
    /// Data.
    Data,
    /// The mbarrier that they are.
    Mbarrier,
    /// A place for an mbarrier, which they become (`mbarrier.init`).
    MbarrierInit,
    /// An mbarrier, which they are no longer (`mbarrier.inval`).
    MbarrierInval,
}

/// One access of an instruction, with its modifiers decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Effect {
    /// Where.
    pub space: Space,
    /// What.
    pub kind: AccessKind,
    /// How it is ordered.
    pub order: Order,
    /// Among whom, if it is strong.
    pub scope: Scope,
    /// By which path.
    pub proxy: Proxy,
    /// When it is done.
    pub completion: Completion,
    /// What it takes the bytes for.
    pub object: ObjectUse,
}

impl Effect {
    /// A weak, synchronous access to data by the generic proxy.
    pub const fn plain(space: Space, kind: AccessKind) -> Effect {
        Effect {
            space,
            kind,
            order: Order::Weak,
            scope: Scope::Block,
            proxy: Proxy::Generic,
            completion: Completion::Synchronous,
            object: ObjectUse::Data,
        }
    }
}

/// Which lanes of a warp execute an instruction together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convergence {
    /// None: each lane by itself; the instruction may be moved into and out of branches.
    Independent,
    /// The lanes that are there (`activemask`, `exit`): the result depends on which, so the instruction stays where it is.
    Present,
    /// The lanes that a member mask operand names.
    MemberMask,
    /// All lanes of the warp (`.aligned` and the matrix instructions).
    Warp,
    /// All lanes of the four warps of a warpgroup.
    Warpgroup,
    /// The threads that a barrier of the block or the cluster counts.
    Barrier,
}

/// What an instruction does at a barrier: one of a block or a cluster, or an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierAction {
    /// The object is made or unmade (`mbarrier.init`, `mbarrier.inval`).
    Setup,
    /// Arrives and goes on.
    Arrive,
    /// Waits for the others' arrival.
    Wait,
    /// Arrives and waits.
    ArriveAndWait,
    /// Asks whether all have arrived (`mbarrier.test_wait`).
    Test,
}

/// What a fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The order it brings.
    pub order: Order,
    /// Among whom.
    pub scope: Scope,
    /// The proxy whose accesses it orders with those of the generic one; [`Proxy::Generic`]: none.
    pub proxy: Proxy,
}
