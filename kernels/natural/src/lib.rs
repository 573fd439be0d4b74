//! Kernels as a newcomer writes them: safe where that is natural, with iterators, slices and `usize`, and without tuning. Each has a twin in
//! `twins`: the same algorithm in CUDA C++, written as plainly.
//!
//! They show what a user meets first. `cargo xtask build-ptx --against-nvcc` compares the code of both, `cargo xtask bench natural` the
//! times. A kernel that is slower than its twin is a matter for the builder or the device library: it is not tuned here.
#![no_std]

pub mod argmax;
pub mod base64;
pub mod bfs_level;
pub mod big_multiply;
pub mod bilinear;
pub mod binary_search;
pub mod bitmap_rank;
pub mod bitonic_block;
pub mod bitonic_step;
pub mod black_scholes;
pub mod block_scan;
pub mod block_sum;
pub mod box_blur;
pub mod bvh_count;
pub mod cholesky;
pub mod collatz;
pub mod convolve_1d;
pub mod crc32;
pub mod dct_8x8;
pub mod depthwise_conv;
pub mod edit_distance;
pub mod equalize;
pub mod fft_radix4;
pub mod floyd_warshall;
pub mod gemv_f16;
pub mod half_axpy;
pub mod hamming;
pub mod hash_insert;
pub mod heat_1d;
pub mod interpreter;
pub mod inverse_3x3;
pub mod inverse_4x4;
pub mod kmeans;
pub mod layer_norm_bf16;
pub mod life;
pub mod lstm_cell;
pub mod mandelbrot;
pub mod matmul_tiled;
pub mod median_3x3;
pub mod mod_pow;
pub mod monte_carlo_pi;
pub mod nbody;
pub mod pagerank;
pub mod particles;
pub mod perlin;
pub mod radix_histogram;
pub mod radix_scatter;
pub mod ray_spheres;
pub mod relax_edges;
pub mod rgb_to_yuv;
pub mod rle_decode;
pub mod rms_norm;
pub mod saxpy;
pub mod saxpy_strided;
pub mod separable_blur;
pub mod sha256;
pub mod smith_waterman;
pub mod sobel;
pub mod softmax_block;
pub mod softmax_warp;
pub mod spmv;
pub mod stencil_2d;
pub mod stencil_3d;
pub mod string_match;
pub mod transpose;
pub mod triangles;
pub mod tridiagonal;
pub mod utf8_count;
pub mod xxhash;
