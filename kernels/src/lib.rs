//! The reference suite's kernels: one file each, with a page in the docs that explains the algorithm.
//!
//! Each module holds a kernel, the constants its launch needs, and nothing of the host: the safe functions, oracles and
//! benchmarks are in `warpsmith-suite`. [`tiling`] is what the matrix products share, [`random`] what fills the inputs.
#![no_std]

#[cfg(feature = "broken")]
pub mod broken;
pub mod conjugate_gradient;
pub mod convolution;
pub mod equalize;
pub mod histogram;
pub mod histogram_bins;
pub mod histogram_cluster;
pub mod peak;
pub mod power_iteration;
pub mod random;
pub mod reduce;
pub mod saxpy;
pub mod scan;
pub mod sgemm;
pub mod tiling;
pub mod transpose;
pub mod wmma_gemm;
