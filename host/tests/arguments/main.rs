//! Public entry points with each kind of wrong argument that their types do not exclude: out of range, overlapping, of another device, stream,
//! graph or capture, too many. What answers is the named error, which says what is wrong, the limit and the way out; and nothing is changed or
//! lost by the call. `complete.rs` demands rows for each entry point that can fail, or a reason for none.
//!
//! Freed memory, and what was made before a reset, are not among the arguments: a buffer that is freed is gone, and `Gpu::reset` refuses while
//! anything of the `Gpu` is alive. Handles and pointers that a caller brings by `unsafe` are in `interop/raw_handles.rs`, too.

#[path = "../common/mod.rs"]
mod common;
mod complete;
mod row;
mod rows;
mod run;
mod sources;
mod world;
