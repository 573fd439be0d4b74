//! The cases, one file each: inputs, launch, and the same computation on the CPU.

mod adam;
mod adpcm;
mod advect;
mod aes;
mod argmax;
mod argsort_8;
mod attention_row;
mod base58;
mod base64;
mod bfs_level;
mod bicubic;
mod big_multiply;
mod bilateral;
mod bilinear;
mod binary_search;
mod binomial;
mod biquad;
mod bitmap_rank;
mod bitonic_block;
mod bitonic_step;
mod black_scholes;
mod blake2s;
mod block_scan;
mod block_sum;
mod bloom_query;
mod box_blur;
mod bvh_count;
mod cell_neighbours;
mod chacha20;
mod cholesky;
mod collatz;
mod compact;
mod conv_5x5;
mod convolve_1d;
mod counting_sort;
mod crc32;
mod cross_entropy;
mod date_histogram;
mod dct_8x8;
mod demosaic;
mod depthwise_conv;
mod dfa_match;
mod dilation;
mod dtw;
mod edit_distance;
mod equalize;
mod fft_radix4;
mod floyd_warshall;
mod gemv_f16;
mod gemv_int4;
mod givens_qr;
mod goldilocks;
mod group_norm;
mod half_axpy;
mod hamming;
mod hash_insert;
mod heat_1d;
mod hilbert;
mod huffman_decode;
mod integral_rows;
mod interpreter;
mod inverse_3x3;
mod inverse_4x4;
mod ising;
mod jacobi_3x3;
mod json_tokens;
mod kalman;
mod kd_nearest;
mod kmeans;
mod knapsack;
mod knn;
mod label_components;
mod lattice_boltzmann;
mod layer_norm_bf16;
mod lcs;
mod leb128;
mod life;
mod life_bits;
mod log_status;
mod lorenz;
mod lstm_cell;
mod lu_6x6;
mod lz_match;
mod mandelbrot;
mod matmul_tiled;
mod median_3x3;
mod merge_path;
mod miller_rabin;
mod mod_pow;
mod monte_carlo_pi;
mod myers;
mod n_queens;
mod nbody;
mod needleman;
mod pagerank;
mod parse_numbers;
mod particles;
mod perlin;
mod point_in_polygon;
mod quantize_rows;
mod radix_histogram;
mod radix_scatter;
mod rank_sort;
mod ray_march;
mod ray_spheres;
mod ray_triangles;
mod reed_solomon;
mod relax_edges;
mod rgb_to_yuv;
mod rigid_bodies;
mod rle_decode;
mod rms_norm;
mod rope;
mod sandpile;
mod saxpy;
mod saxpy_strided;
mod segment_sum;
mod separable_blur;
mod sha256;
mod siphash;
mod skinning;
mod sliding_max;
mod smith_waterman;
mod sobel;
mod softmax_block;
mod softmax_warp;
mod spmm;
mod spmv;
mod stencil_2d;
mod stencil_3d;
mod string_match;
mod top_k;
mod transpose;
mod triangles;
mod tridiagonal;
mod union_find;
mod utf16_length;
mod utf8_count;
mod viterbi;
mod xxhash;

use warpsmith_suite::Case;

/// All cases, by name.
pub(crate) fn cases() -> &'static [Case] {
    static CASES: [Case; 140] = [
        adam::CASE,
        adpcm::CASE,
        advect::CASE,
        aes::CASE,
        argmax::CASE,
        argsort_8::CASE,
        attention_row::CASE,
        base58::CASE,
        base64::CASE,
        bfs_level::CASE,
        bicubic::CASE,
        big_multiply::CASE,
        bilateral::CASE,
        bilinear::CASE,
        binary_search::CASE,
        binomial::CASE,
        biquad::CASE,
        bitmap_rank::CASE,
        bitonic_block::CASE,
        bitonic_step::CASE,
        black_scholes::CASE,
        blake2s::CASE,
        block_scan::CASE,
        block_sum::CASE,
        bloom_query::CASE,
        box_blur::CASE,
        bvh_count::CASE,
        cell_neighbours::CASE,
        chacha20::CASE,
        cholesky::CASE,
        collatz::CASE,
        compact::CASE,
        conv_5x5::CASE,
        convolve_1d::CASE,
        counting_sort::CASE,
        crc32::CASE,
        cross_entropy::CASE,
        date_histogram::CASE,
        dct_8x8::CASE,
        demosaic::CASE,
        depthwise_conv::CASE,
        dfa_match::CASE,
        dilation::CASE,
        dtw::CASE,
        edit_distance::CASE,
        equalize::CASE,
        fft_radix4::CASE,
        floyd_warshall::CASE,
        gemv_f16::CASE,
        gemv_int4::CASE,
        givens_qr::CASE,
        goldilocks::CASE,
        group_norm::CASE,
        half_axpy::CASE,
        hamming::CASE,
        hash_insert::CASE,
        heat_1d::CASE,
        hilbert::CASE,
        huffman_decode::CASE,
        integral_rows::CASE,
        interpreter::CASE,
        inverse_3x3::CASE,
        inverse_4x4::CASE,
        ising::CASE,
        jacobi_3x3::CASE,
        json_tokens::CASE,
        kalman::CASE,
        kd_nearest::CASE,
        kmeans::CASE,
        knapsack::CASE,
        knn::CASE,
        label_components::CASE,
        lattice_boltzmann::CASE,
        layer_norm_bf16::CASE,
        lcs::CASE,
        leb128::CASE,
        life::CASE,
        life_bits::CASE,
        log_status::CASE,
        lorenz::CASE,
        lstm_cell::CASE,
        lu_6x6::CASE,
        lz_match::CASE,
        mandelbrot::CASE,
        matmul_tiled::CASE,
        median_3x3::CASE,
        merge_path::CASE,
        miller_rabin::CASE,
        mod_pow::CASE,
        monte_carlo_pi::CASE,
        myers::CASE,
        n_queens::CASE,
        nbody::CASE,
        needleman::CASE,
        pagerank::CASE,
        parse_numbers::CASE,
        particles::CASE,
        perlin::CASE,
        point_in_polygon::CASE,
        quantize_rows::CASE,
        radix_histogram::CASE,
        radix_scatter::CASE,
        rank_sort::CASE,
        ray_march::CASE,
        ray_spheres::CASE,
        ray_triangles::CASE,
        reed_solomon::CASE,
        relax_edges::CASE,
        rgb_to_yuv::CASE,
        rigid_bodies::CASE,
        rle_decode::CASE,
        rms_norm::CASE,
        rope::CASE,
        sandpile::CASE,
        saxpy::CASE,
        saxpy_strided::CASE,
        segment_sum::CASE,
        separable_blur::CASE,
        sha256::CASE,
        siphash::CASE,
        skinning::CASE,
        sliding_max::CASE,
        smith_waterman::CASE,
        sobel::CASE,
        softmax_block::CASE,
        softmax_warp::CASE,
        spmm::CASE,
        spmv::CASE,
        stencil_2d::CASE,
        stencil_3d::CASE,
        string_match::CASE,
        top_k::CASE,
        transpose::CASE,
        triangles::CASE,
        tridiagonal::CASE,
        union_find::CASE,
        utf16_length::CASE,
        utf8_count::CASE,
        viterbi::CASE,
        xxhash::CASE,
    ];
    &CASES
}

/// What the files of the cases use.
mod prelude {
    pub(super) use crate::problem::{
        below, case, draw, every, every_array, exactly, nearly, problem, starts_of,
    };
    pub(super) use anyhow::Result;
    pub(super) use warpsmith_host::prelude::*;
    pub(super) use warpsmith_natural as kernels;
    pub(super) use warpsmith_suite::case::Problem;
    pub(super) use warpsmith_suite::launch_pair;
    pub(super) use warpsmith_suite::session::Session;
}
