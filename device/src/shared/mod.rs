//! Shared memory: one object per block, reached in phases that barriers divide.
//!
//! [`shared!`](crate::shared!) gives a handle to fresh, uninitialised shared memory. In safe code it goes through three
//! types, each step consuming the one before, so that no thread reads while others write:
//!
//! ```text
//! SharedArray --write, fill_with--> SharedFilled --sync--> SharedView --sync--> SharedArray
//!  (to fill)                         (filled)               (all read)  --sync_mut--> SharedOwn --sync--> SharedView
//! ```
//!
//! Besides, [`SharedFilled::sync_atomic`] lets all threads of the block use the elements atomically, and
//! [`SharedFilled::across_cluster`] lets all blocks of a cluster read each other's arrays.
//!
//! Every `sync` is a [`block::sync`](crate::block::sync), with its rule: all threads of the block take the same steps.
//! A pattern that does not fit uses the raw pointer ([`SharedArray::as_mut_ptr`]) in `unsafe` code, with barriers of its
//! own.

mod array;
mod share;
mod storage;
mod tile;

pub use array::{SharedArray, SharedFilled, SharedOwn, SharedView};
pub use share::SharedAtomics;
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "90"))]
pub use share::{ClusterAtomics, ClusterView};
pub use storage::{Region, SharedRaw, dynamic, dynamic_bytes};
#[doc(hidden)]
pub use storage::{Reuse, marker};
pub use tile::{SharedTile, TileFilled, TileView};

/// What may live in shared memory under the safe interface: values that every thread of the block may read, of types
/// without invalid bit patterns.
///
/// (A thread that panics ends, and leaves its part of an array unfilled. What the others then read there is any bits.)
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared by the threads of a block",
    label = "other threads will read it",
    note = "shared memory takes types that are `bytemuck::AnyBitPattern`, `Send`, `Sync` and `'static`: numbers, arrays, \
            structs that derive `bytemuck::Pod`; for others there is `shared!(raw T)`"
)]
pub trait Element: bytemuck::AnyBitPattern + Send + Sync + 'static {}
impl<T: bytemuck::AnyBitPattern + Send + Sync + 'static> Element for T {}

/// Allocates shared memory: one object for each call site (and for each instantiation of a generic function around
/// it), in the `.shared` state space, uninitialised.
///
/// | Call | Gives |
/// | --- | --- |
/// | `shared!([f32; 256])` | [`SharedArray<f32, 256>`](crate::shared::SharedArray) |
/// | `shared!([[f32; 32]; 16])` | [`SharedTile<f32, 16, 32, 32>`](crate::shared::SharedTile): 16 rows of 32 columns |
/// | `shared!([[f32; 32]; 16], padding = 1)` | the same with rows 33 elements apart, against bank conflicts |
/// | `shared!(raw T)` | [`SharedRaw<T>`](crate::shared::SharedRaw): only the pointer |
///
/// In a kernel's own straight-line code the call costs nothing. In a loop, a closure or another function the same
/// object may be in use still, so there the call begins with a block barrier; allocate before the loop to save it.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// /// Reverses each block's part of the data.
/// #[kernel(launch_bounds(256, exact))]
/// pub fn reverse(x: &[u32], mut out: PerThread<[u32]>) {
///     let mine = x.get(thread::index()).copied().unwrap_or(0);
///     let view = shared!([u32; 256]).write(mine).sync();
///     if let Some(out) = out.mine() {
///         *out = view[255 - thread::thread_idx_x() as usize];
///     }
/// }
/// ```
#[macro_export]
macro_rules! shared {
    (@once $($rest:tt)*) => { $crate::__shared!(Once, $($rest)*) };
    ($($rest:tt)*) => { $crate::__shared!(Again, $($rest)*) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __shared {
    ($reuse:ident, raw $ty:ty) => {
        // The marker's second type argument, a closure's type, is another one for each call site and instantiation.
        $crate::shared::SharedRaw::<$ty>::__new($crate::shared::marker::<$ty, _>(|| {}))
    };
    ($reuse:ident, [[$ty:ty; $columns:expr]; $rows:expr] $(,)?) => {
        $crate::shared::SharedTile::<$ty, { $rows }, { $columns }, { $columns }>::__new(
            $crate::shared::marker::<[[$ty; $columns]; $rows], _>(|| {}).cast(),
            $crate::shared::Reuse::$reuse,
        )
    };
    ($reuse:ident, [[$ty:ty; $columns:expr]; $rows:expr], padding = $padding:expr) => {
        $crate::shared::SharedTile::<$ty, { $rows }, { $columns }, { $columns + $padding }>::__new(
            $crate::shared::marker::<[[$ty; $columns + $padding]; $rows], _>(|| {}).cast(),
            $crate::shared::Reuse::$reuse,
        )
    };
    ($reuse:ident, [$ty:ty; $length:expr] $(,)?) => {
        $crate::shared::SharedArray::<$ty, { $length }>::__new(
            $crate::shared::marker::<[$ty; $length], _>(|| {}).cast(),
            $crate::shared::Reuse::$reuse,
        )
    };
}
