//! The cases, one file each: inputs, launch, and the same computation on the CPU.

mod bfs_level;
mod bilinear;
mod binary_search;
mod bitonic_block;
mod bitonic_step;
mod black_scholes;
mod block_scan;
mod block_sum;
mod box_blur;
mod edit_distance;
mod equalize;
mod fft_radix4;
mod floyd_warshall;
mod gemv_f16;
mod half_axpy;
mod hash_insert;
mod interpreter;
mod inverse_3x3;
mod inverse_4x4;
mod kmeans;
mod layer_norm_bf16;
mod life;
mod mandelbrot;
mod matmul_tiled;
mod mod_pow;
mod monte_carlo_pi;
mod nbody;
mod pagerank;
mod particles;
mod radix_histogram;
mod radix_scatter;
mod saxpy;
mod saxpy_strided;
mod sha256;
mod smith_waterman;
mod sobel;
mod softmax_block;
mod softmax_warp;
mod spmv;
mod stencil_2d;
mod stencil_3d;
mod string_match;
mod transpose;
mod xxhash;

use warpsmith_suite::Case;

/// All cases, by name.
pub(crate) fn cases() -> &'static [Case] {
    static CASES: [Case; 44] = [
        bfs_level::CASE,
        bilinear::CASE,
        binary_search::CASE,
        bitonic_block::CASE,
        bitonic_step::CASE,
        black_scholes::CASE,
        block_scan::CASE,
        block_sum::CASE,
        box_blur::CASE,
        edit_distance::CASE,
        equalize::CASE,
        fft_radix4::CASE,
        floyd_warshall::CASE,
        gemv_f16::CASE,
        half_axpy::CASE,
        hash_insert::CASE,
        interpreter::CASE,
        inverse_3x3::CASE,
        inverse_4x4::CASE,
        kmeans::CASE,
        layer_norm_bf16::CASE,
        life::CASE,
        mandelbrot::CASE,
        matmul_tiled::CASE,
        mod_pow::CASE,
        monte_carlo_pi::CASE,
        nbody::CASE,
        pagerank::CASE,
        particles::CASE,
        radix_histogram::CASE,
        radix_scatter::CASE,
        saxpy::CASE,
        saxpy_strided::CASE,
        sha256::CASE,
        smith_waterman::CASE,
        sobel::CASE,
        softmax_block::CASE,
        softmax_warp::CASE,
        spmv::CASE,
        stencil_2d::CASE,
        stencil_3d::CASE,
        string_match::CASE,
        transpose::CASE,
        xxhash::CASE,
    ];
    &CASES
}

/// What the files of the cases use.
mod prelude {
    pub(super) use crate::problem::{below, case, draw, exactly, nearly, problem};
    pub(super) use anyhow::Result;
    pub(super) use warpsmith_host::prelude::*;
    pub(super) use warpsmith_natural as kernels;
    pub(super) use warpsmith_suite::case::Problem;
    pub(super) use warpsmith_suite::launch_pair;
    pub(super) use warpsmith_suite::session::Session;
}
