//! `use warpsmith_device::prelude::*;` at the head of a kernel module.

pub use crate::atomic::{AcqRel, Acquire, Atomic, AtomicSlice, Relaxed, Release, SeqCst, scope};
pub use crate::cluster;
pub use crate::float::{FloatApprox, FloatExt, FloatRounding};
pub use crate::index::SliceAt;
pub use crate::launch::{Kernel, SafeKernel};
pub use crate::texture::{
    CubeTexture, GatherTexture2d, LayeredCubeTexture, LayeredSurface1d, LayeredSurface2d,
    LayeredTexture1d, LayeredTexture2d, LinearTexture, MipmappedTexture, Surface1d, Surface2d,
    Surface3d, Texture1d, Texture2d, Texture3d,
};
pub use crate::vector::{AsVectors, Vector};
pub use crate::view::{
    Matrix, MatrixOut, PerBlock, PerThread, PerThread3d, PerThreadVectors, PerWarp, RowPerBlock,
    RowPerWarp, Scatter, TilePerBlock, VolumeOut,
};
pub use crate::{arch, block, clock, fence, grid, shared, strided, thread, warp};
pub use crate::{gpu_assert, gpu_debug_assert, gpu_print, gpu_println, kernel, unroll};
