//! Public entry points for memory, arrays, textures, streams and events with each kind of wrong argument that its types do not exclude: out of range, overlapping, of another
//! device, stream or graph, too many. What answers is the named error, which says what is wrong, the limit and the way out; and nothing
//! is changed or lost by the call. `complete.rs` lists the source files whose entry points must all have rows.
//!
//! Freed memory, and what was made before a reset, are not among the arguments: a buffer that is freed is gone, and `Gpu::reset` refuses while
//! anything of the `Gpu` is alive. Handles and pointers that a caller brings by `unsafe` are in `interop/raw_handles.rs`.

#[path = "../common/mod.rs"]
mod common;
mod complete;
mod row;
mod rows;
mod run;
mod sources;
mod world;
