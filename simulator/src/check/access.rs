//! What the engine tells of an access, and what is remembered of it.

use warpsmith_isa::effect::{AccessKind, ObjectUse, Order, Proxy, Scope};

/// An instruction, numbered by the engine.
pub type Site = u32;

/// An access by lanes of a warp to shared memory, each at its own offset. Offsets count through the shared memory of all
/// blocks of the cluster: `rank * bytes of a block + offset`.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// The warp's block, by rank in the cluster.
    pub block: u32,
    /// The warp's number in its block.
    pub warp: u32,
    /// The lanes that take part.
    pub mask: u32,
    /// Where each lane's access starts.
    pub offsets: &'a [u32; 32],
    /// Bytes of each lane's access, at most 32.
    pub size: u32,
    /// What it does.
    pub kind: AccessKind,
    /// How it is ordered. Atomic operations are strong whatever is said here.
    pub order: Order,
    /// Among which threads, if it is strong.
    pub scope: Scope,
    /// By which path.
    pub proxy: Proxy,
    /// What it takes the bytes for.
    pub object: ObjectUse,
    /// Whether it synchronises now, if it is strong. Otherwise that depends on its result, and
    /// [`SharedMemory::synchronise`](super::SharedMemory::synchronise) says for which lanes it does.
    pub synchronises: bool,
    /// Whether the engine follows the values that it reads and writes ([`Poison`](super::Poison)): reading uninitialised ones is no
    /// finding by itself then.
    pub is_followed: bool,
    /// The instruction.
    pub site: Site,
}

impl Access<'_> {
    /// What of the access is the same for all lanes and remembered.
    pub(super) fn class(&self) -> AccessClass {
        AccessClass {
            kind: self.kind,
            order: match (self.kind, self.order) {
                (AccessKind::Atomic, Order::Weak) => Order::Relaxed,
                (_, order) => order,
            },
            scope: self.scope,
            proxy: self.proxy,
        }
    }
}

/// Memory that one thread's asynchronous operation reads or writes, at some time between its instruction and its completion.
#[derive(Clone, Copy, Debug)]
pub struct AsyncAccess {
    /// The thread's block, by rank in the cluster.
    pub block: u32,
    /// The thread's warp, by number in its block.
    pub warp: u32,
    /// The thread's lane; any one of those that execute an instruction of the whole warp.
    pub lane: u32,
    /// The first byte, counted through the shared memory of all blocks of the cluster.
    pub offset: u32,
    /// How many.
    pub bytes: u32,
    /// What is done there; a reduction is [`AccessKind::Atomic`].
    pub kind: AccessKind,
    /// By which path: copies and products by the asynchronous proxy, asynchronous stores by the generic one.
    pub proxy: Proxy,
    /// The instruction.
    pub site: Site,
    /// How its completion is learned of.
    pub completion: AsyncCompletion,
}

impl AsyncAccess {
    /// What of the access is remembered.
    pub(super) fn class(&self) -> AccessClass {
        AccessClass {
            kind: self.kind,
            order: match self.kind {
                AccessKind::Atomic => Order::Relaxed,
                AccessKind::Read | AccessKind::Write => Order::Weak,
            },
            scope: Scope::Device,
            proxy: self.proxy,
        }
    }
}

/// How the completion of an asynchronous operation is learned of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncCompletion {
    /// An mbarrier counts its bytes; threads that wait there learn of it.
    Mbarrier {
        /// Where, counted through the shared memory of all blocks.
        offset: u32,
    },
    /// The issuing thread waits for its bulk groups, which complete in order.
    BulkGroup,
    /// The lanes of the issuing warp wait for the warpgroup's matrix products, which complete in order.
    Products,
}

/// An asynchronous operation under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncTicket {
    /// Who performs it.
    pub(super) agent: u32,
    pub(super) epoch: u32,
}

impl AsyncTicket {
    /// Of an operation whose order nobody follows.
    pub(super) const UNKNOWN: AsyncTicket = AsyncTicket { agent: 0, epoch: 0 };
}

/// What a fence between proxies orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyFence {
    /// All that its thread has written: `fence.proxy.async`.
    Async,
    /// Only the mbarriers that its thread has initialised: `fence.mbarrier_init`.
    MbarrierInit,
}

/// Strong accesses by lanes of a warp to memory that is not shared memory: they race with nothing here, but can order
/// accesses to shared memory.
#[derive(Clone, Copy, Debug)]
pub struct GlobalSynchronisation<'a> {
    /// The warp's block, by rank in the cluster.
    pub block: u32,
    /// The warp's number in its block.
    pub warp: u32,
    /// The lanes that take part.
    pub mask: u32,
    /// The lanes' addresses.
    pub addresses: &'a [u64; 32],
    /// What the access does.
    pub kind: AccessKind,
    /// How it is ordered.
    pub order: Order,
    /// Among which threads.
    pub scope: Scope,
}

/// The values that a write is about to store, asked only where two writes meet.
pub trait Values {
    /// Whether the lane's write leaves memory as it is.
    fn unchanged(&self, lane: usize) -> bool;
    /// Whether two lanes write the same; `None` where that is not known.
    fn equal(&self, lane: usize, other: usize) -> Option<bool>;
}

/// For accesses that write nothing, or whose values are not known when they are issued (asynchronous copies, fragments of a
/// matrix).
impl Values for () {
    fn unchanged(&self, _: usize) -> bool {
        false
    }
    fn equal(&self, _: usize, _: usize) -> Option<bool> {
        None
    }
}

/// What an access does, how it is ordered, among whom and by which path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessClass {
    /// What it does.
    pub kind: AccessKind,
    /// How it is ordered.
    pub order: Order,
    /// Among which threads, if it is strong.
    pub scope: Scope,
    /// By which path.
    pub proxy: Proxy,
}

impl AccessClass {
    /// Whether it may meet other strong accesses without a race.
    #[inline]
    pub fn is_strong(self) -> bool {
        self.order.is_strong()
    }
}

impl std::fmt::Display for AccessClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match (self.kind, self.is_strong()) {
            (AccessKind::Read, false) => "read",
            (AccessKind::Write, false) => "write",
            (AccessKind::Read, true) => "atomic or volatile read",
            (AccessKind::Write, true) => "atomic or volatile write",
            (AccessKind::Atomic, _) => "atomic operation",
        })
    }
}

/// An access by one thread, as findings name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadAccess {
    /// Rank of the block in its cluster.
    pub block: u32,
    /// Number of the thread in its block.
    pub thread: u32,
    /// The instruction.
    pub site: Site,
    /// What it did.
    pub class: AccessClass,
    /// Who performs it.
    pub performer: Performer,
}

/// Who performs an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Performer {
    /// The thread, with its instruction.
    Thread,
    /// An operation that the thread has started, at some time before its completion.
    Operation,
}

/// What it did, in words.
impl std::fmt::Display for ThreadAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.performer, self.class.kind) {
            (Performer::Thread, _) => self.class.fmt(f),
            (Performer::Operation, AccessKind::Read) => f.write_str("asynchronous read"),
            (Performer::Operation, AccessKind::Write) => f.write_str("asynchronous write"),
            (Performer::Operation, AccessKind::Atomic) => f.write_str("asynchronous reduction"),
        }
    }
}

/// Why two accesses race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceCause {
    /// Nothing orders them.
    Unordered,
    /// Nothing orders them, and both are strong, but the scope of one does not include the other's thread.
    Scope,
    /// They are ordered, but go through different proxies without a proxy fence between.
    Proxy,
    /// The earlier one has not been waited for by the thread that started it.
    InFlight,
}
