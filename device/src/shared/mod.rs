//! Shared memory: one object per block, reached in phases that barriers divide.
//!
//! [`shared!`](crate::shared!) gives the one handle to an object of fresh, uninitialised shared memory. In safe code it goes
//! through three types, each step consuming the one before, so that no thread reads while others write:
//!
//! ```text
//! SharedArray --write, fill_with--> SharedFilled --sync--> SharedView --sync--> SharedArray
//!  (to fill)                         (filled)               (all read)  --sync_mut--> SharedOwn --sync--> SharedView
//! ```
//!
//! [`SharedFilled::reduce`] combines all elements to one, with all barriers that this takes.
//!
//! A tile can be taken apart into rows, each for one warp and with barriers of the warp alone ([`SharedTile::row_per_warp`]):
//!
//! ```text
//! WarpRow --fill_with--> WarpRowFilled --sync--> WarpRowView --sync--> WarpRow
//! ```
//!
//! An array can be filled by asynchronous copies, while the block computes ([`copies`](copies())):
//!
//! ```text
//! SharedArray --Copies::copy--> SharedCopying --sync--> SharedView --sync--> SharedArray
//! ```
//!
//! The barrier before the reads can be passed in two steps, with other work between ([`split_barrier`](split_barrier())).
//!
//! Besides, [`SharedFilled::sync_atomic`] lets all threads of the block use the elements atomically, and
//! [`SharedFilled::across_cluster`] lets all blocks of a cluster read each other's arrays.
//!
//! Every `sync` is a [`block::sync`](crate::block::sync), with its rule: all threads of the block take the same steps, with
//! the same objects.
//!
//! A helper function is given its memory. It takes a handle by value, or `&mut` and begins with
//! [`refill`](SharedArray::refill), which is also the way to use an object again in a loop.
//!
//! A pattern that does not fit uses the raw pointer ([`SharedArray::as_mut_ptr`]) in `unsafe` code, with barriers of its
//! own.

mod array;
mod copies;
mod reduce;
mod share;
mod split_barrier;
mod storage;
mod tile;
mod unsynchronised;
mod warp_row;

pub use array::{SharedArray, SharedFilled, SharedOwn, SharedView};
pub use copies::{Copies, SharedCopying, copies};
pub use share::SharedAtomics;
pub use share::{ClusterAtomics, ClusterView};
pub use split_barrier::{SplitBarrier, split_barrier};
pub use storage::{Region, SharedRaw, dynamic, dynamic_bytes};
#[doc(hidden)]
pub use storage::{Shared, marker, new_array, new_tile};
pub(crate) use tile::own_elements;
pub use tile::{SharedTile, TileFilled, TileView};
#[doc(hidden)]
pub use unsynchronised::Synchronised;
pub use warp_row::{WarpRow, WarpRowFilled, WarpRowView};

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

/// Allocates shared memory: one object for each place in the text (and for each instantiation of a generic function around
/// it), in the `.shared` state space, uninitialised.
///
/// | Call | Gives | Where |
/// | --- | --- | --- |
/// | `shared!([f32; 256])` | [`SharedArray<f32, 256>`](crate::shared::SharedArray) | in a kernel |
/// | `shared!([[f32; 32]; 16])` | [`SharedTile<f32, 16, 32, 32>`](crate::shared::SharedTile): 16 rows of 32 columns | in a kernel |
/// | `shared!([[f32; 32]; 16], padding = 1)` | the same with rows 33 elements apart, against bank conflicts | in a kernel |
/// | `shared!(raw T)` | [`SharedRaw<T>`](crate::shared::SharedRaw): only the pointer, the same each time | anywhere |
///
/// A handle stands for the object: who has it may write. So a thread makes it once: the call stands directly in the body of a
/// [`#[kernel]`](macro@crate::kernel) function, not in a loop, a closure, a match guard, an item within the kernel, or what
/// another macro expands to. `#[kernel]` puts the object in its place; anywhere else it does not compile. Helper functions and
/// loops get the handle: see [`SharedArray::refill`](crate::shared::SharedArray::refill).
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
    (raw $ty:ty) => {
        // The marker's second type argument, a closure's type, is another one for each place and instantiation.
        $crate::shared::SharedRaw::<$ty>::__new($crate::shared::marker::<$ty, _>(|| {}))
    };
    // `#[kernel]` asks whether the name means this macro.
    (@kernel) => {
        $crate::shared::Shared
    };
    ($($rest:tt)*) => {
        ::core::compile_error!(
            "`shared!` stands directly in the body of a `#[kernel]` function: not in a loop, a closure, a match guard, \
             another function, or another macro. Make the array in the kernel and pass it on, by value or as \
             `&mut SharedArray<T, N>`, which `refill` lends for each round. (`shared!(raw T)`, a plain pointer, may \
             stand anywhere.)"
        )
    };
}
