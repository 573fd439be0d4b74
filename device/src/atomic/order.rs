//! Scopes and memory orders as types, so that a wrong pair (`load(Release)`) does not compile.

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

use crate::launch::{Out, SystemAtomics};

/// The PTX scope behind a [`Scope`].
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Block,
    #[cfg(warpsmith_arch_at_least = "90")]
    Cluster,
    Device,
    System,
}

/// Who takes part: an atomic operation is atomic, and orders memory, only among the threads of its scope.
///
/// Two operations on one word exclude each other only if the scope of each includes the thread of the other; a scope
/// that is too narrow is a data race even where it happens to work.
pub trait Scope: Sealed + Copy {
    #[doc(hidden)]
    const LEVEL: Level;
    #[doc(hidden)]
    fn default_value() -> Self;
}

/// A scope that holds every thread of a grid: what data in global memory needs.
#[diagnostic::on_unimplemented(
    message = "the scope `{Self}` does not hold all threads that use the word",
    label = "blocks would race with each other",
    note = "the whole grid reaches statics and buffers: `scope::Device` (the default of `Atomic<T>`) or `scope::System`",
    note = "words of one block or cluster are in its shared memory: `sync_atomic` of a `shared!` array"
)]
pub trait GridScope: Scope {
    /// What an `AtomicSlice` of this scope is as a kernel's parameter.
    #[doc(hidden)]
    type Marker<T>;
}

/// A scope that holds every thread of a cluster: what shared memory seen by neighbour blocks needs.
pub trait ClusterScope: Scope {}

/// The scopes (guide §2.5.1, §7.14).
pub mod scope {
    /// The threads of one block; PTX `.cta`.
    #[derive(Clone, Copy, Debug)]
    pub struct Block;
    /// The threads of one cluster of blocks; PTX `.cluster`. Below sm_90, which has no such scope, it is that of
    /// [`Device`].
    #[derive(Clone, Copy, Debug)]
    pub struct Cluster;
    /// All threads on this GPU; PTX `.gpu`.
    #[derive(Clone, Copy, Debug)]
    pub struct Device;
    /// All threads of all GPUs and of the host; PTX `.sys`.
    #[derive(Clone, Copy, Debug)]
    pub struct System;
}

macro_rules! scopes {
    ($($(#[$attribute:meta])* $name:ident = $level:expr;)*) => {$(
        $(#[$attribute])*
        impl Sealed for scope::$name {}
        $(#[$attribute])*
        impl Scope for scope::$name {
            const LEVEL: Level = $level;
            fn default_value() -> Self {
                scope::$name
            }
        }
    )*};
}
scopes! {
    Block = Level::Block;
    #[cfg(warpsmith_arch_at_least = "90")]
    Cluster = Level::Cluster;
    // The next wider one that the architecture has.
    #[cfg(not(warpsmith_arch_at_least = "90"))]
    Cluster = Level::Device;
    Device = Level::Device;
    System = Level::System;
}
impl ClusterScope for scope::Cluster {}
impl ClusterScope for scope::Device {}
impl ClusterScope for scope::System {}
impl GridScope for scope::Device {
    type Marker<T> = Out<T>;
}
impl GridScope for scope::System {
    type Marker<T> = SystemAtomics<T>;
}

/// The ordering semantics behind an order.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Semantics {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// An order for [`load`](super::Atomic::load): `Relaxed`, `Acquire` or `SeqCst`.
#[diagnostic::on_unimplemented(
    message = "a load cannot have the order `{Self}`",
    note = "a load is `Relaxed`, `Acquire` or `SeqCst`"
)]
pub trait LoadOrder: Order {}

/// An order for [`store`](super::Atomic::store) and for operations without result: `Relaxed`, `Release` or `SeqCst`.
#[diagnostic::on_unimplemented(
    message = "a store cannot have the order `{Self}`",
    note = "a store is `Relaxed`, `Release` or `SeqCst`"
)]
pub trait StoreOrder: Order {}

/// An order for [`fence`](super::fence): anything but `Relaxed`.
#[diagnostic::on_unimplemented(message = "a fence with the order `{Self}` would do nothing")]
pub trait FenceOrder: Order {}

/// A memory order; read-modify-write operations take any of them.
pub trait Order: Sealed + Copy {
    #[doc(hidden)]
    const SEMANTICS: Semantics;
}

macro_rules! orders {
    ($($(#[$doc:meta])* $name:ident: $($also:ident)*;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl Sealed for $name {}
        impl Order for $name {
            const SEMANTICS: Semantics = Semantics::$name;
        }
        $(impl $also for $name {})*
    )*};
}
orders! {
    /// Atomic, but orders nothing else; PTX `.relaxed`. What CUDA C++'s `atomicAdd` and its kin are.
    Relaxed: LoadOrder StoreOrder;
    /// What another thread did before its release that this operation sees, is seen after it; PTX `.acquire`.
    Acquire: LoadOrder FenceOrder;
    /// What this thread did before is seen by those who acquire; PTX `.release`.
    Release: StoreOrder FenceOrder;
    /// Both; PTX `.acq_rel`.
    AcqRel: FenceOrder;
    /// Both, and all `SeqCst` operations of the scope have one order; PTX `fence.sc` before the operation.
    SeqCst: LoadOrder StoreOrder FenceOrder;
}
