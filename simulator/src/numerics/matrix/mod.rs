//! Matrix instructions: `wmma`, `mma.sync`, `wgmma`, `ldmatrix`, `stmatrix`, `movmatrix`.
//!
//! [`layout`] says which element of a matrix each register of each lane holds; [`multiply`] computes D = A * B + C on
//! fragments; [`exchange`] is the 8 x 8 family that moves halfwords between rows and lanes; [`shape`] holds the list of
//! shapes and types that exist.
//!
//! [`factors`] takes numbers apart, [`accumulate`] adds up their products as a tensor core does, and [`order`] says in
//! which steps an instruction does so. For `wgmma`, [`descriptor`] says where a matrix lies in shared memory, and
//! [`warpgroup`] is a warp's part of such a product. [`sparse`] puts the elements of a sparse factor where they belong.
//! [`trace`] says what an element of D was computed of.
//!
//! The layouts of `mma.sync` are published and followed exactly. Those of `wmma` are left open by the manual: here they
//! are the `mma.sync` layouts continued over larger tiles, the same for C and D, so that elementwise work on fragments
//! means what CUDA promises.

pub mod accumulate;
pub mod descriptor;
pub mod exchange;
pub mod factors;
pub mod layout;
pub mod multiply;
pub mod order;
pub mod quads;
pub mod shape;
pub mod sparse;
pub mod trace;
pub mod warpgroup;

/// The 32 lanes of a register, as raw bits.
pub type Lanes = [u32; 32];
