// c := a * b with f16 factors and f32 sums, row-major, any size. Twin of kernels/src/wmma_gemm.rs: 128 x 128 tiles,
// 8 warps of 32 x 64, 32 deep, two shared buffers; the next tile travels in registers.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

namespace {
constexpr unsigned A_PITCH = 40, B_PITCH = 136;  // halves: 16 bytes more than the tile, so rows start in other banks
constexpr unsigned A_SIZE = 128 * A_PITCH, B_SIZE = 32 * B_PITCH;

struct Matrix {
    const half* data;
    unsigned rows, cols, stride;
};

template <bool VECTORS>
__device__ __forceinline__ uint4 load(const Matrix& m, unsigned row, unsigned col) {
    uint4 v = make_uint4(0, 0, 0, 0);
    if (row < m.rows) {
        const half* at = m.data + static_cast<size_t>(row) * m.stride + col;
        if (VECTORS) {
            if (col < m.cols) v = *reinterpret_cast<const uint4*>(at);
        } else {
            auto two = [&](unsigned i) {
                const unsigned low = col + i < m.cols ? __half_as_ushort(at[i]) : 0;
                const unsigned high = col + i + 1 < m.cols ? __half_as_ushort(at[i + 1]) : 0;
                return high << 16 | low;
            };
            v = make_uint4(two(0), two(2), two(4), two(6));
        }
    }
    return v;
}

using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

template <bool VECTORS>
__device__ __forceinline__ void product(Sum (&acc)[2][4], const Matrix& a, const Matrix& b, half* as, half* bs) {
    const unsigned t = threadIdx.x, warp = t >> 5;
    const unsigned a_row = t >> 2, a_col = (t & 3) * 8, b_row = t >> 4, b_col = (t & 15) * 8;
    const unsigned row = blockIdx.y * 128 + a_row, col = blockIdx.x * 128 + b_col;
    const unsigned m = (warp >> 1) * 32, n = (warp & 1) * 64;
    uint4 a0 = load<VECTORS>(a, row, a_col), a1 = load<VECTORS>(a, row + 64, a_col);
    uint4 b0 = load<VECTORS>(b, b_row, col), b1 = load<VECTORS>(b, b_row + 16, col);
    unsigned buffer = 0;
    for (unsigned k = 0; k < a.cols; k += 32) {
        half* sa = as + buffer * A_SIZE;
        half* sb = bs + buffer * B_SIZE;
        *reinterpret_cast<uint4*>(sa + a_row * A_PITCH + a_col) = a0;
        *reinterpret_cast<uint4*>(sa + (a_row + 64) * A_PITCH + a_col) = a1;
        *reinterpret_cast<uint4*>(sb + b_row * B_PITCH + b_col) = b0;
        *reinterpret_cast<uint4*>(sb + (b_row + 16) * B_PITCH + b_col) = b1;
        __syncthreads();
        if (k + 32 < a.cols) {
            a0 = load<VECTORS>(a, row, k + 32 + a_col);
            a1 = load<VECTORS>(a, row + 64, k + 32 + a_col);
            b0 = load<VECTORS>(b, k + 32 + b_row, col);
            b1 = load<VECTORS>(b, k + 48 + b_row, col);
        }
#pragma unroll
        for (unsigned d = 0; d < 32; d += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[4];
#pragma unroll
            for (unsigned i = 0; i < 2; ++i) wmma::load_matrix_sync(fa[i], sa + (m + i * 16) * A_PITCH + d, A_PITCH);
#pragma unroll
            for (unsigned j = 0; j < 4; ++j) wmma::load_matrix_sync(fb[j], sb + d * B_PITCH + n + j * 16, B_PITCH);
#pragma unroll
            for (unsigned i = 0; i < 2; ++i)
#pragma unroll
                for (unsigned j = 0; j < 4; ++j) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
        }
        buffer ^= 1;
    }
}
}  // namespace

extern "C" __global__ void __launch_bounds__(256, 2)
wmma_gemm(const half* __restrict__ a, unsigned a_rows, unsigned a_cols, unsigned a_stride,
          const half* __restrict__ b, unsigned b_rows, unsigned b_cols, unsigned b_stride,
          float* __restrict__ c, unsigned c_rows, unsigned c_cols, unsigned c_stride) {
    __shared__ uint4 as[2 * A_SIZE / 8];
    __shared__ uint4 bs[2 * B_SIZE / 8];
    const Matrix ma{a, a_rows, a_cols, a_stride}, mb{b, b_rows, b_cols, b_stride};
    Sum acc[2][4];
#pragma unroll
    for (unsigned i = 0; i < 2; ++i)
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) wmma::fill_fragment(acc[i][j], 0.0f);
    if (((a_cols | a_stride | b_cols | b_stride) & 7) == 0)
        product<true>(acc, ma, mb, reinterpret_cast<half*>(as), reinterpret_cast<half*>(bs));
    else
        product<false>(acc, ma, mb, reinterpret_cast<half*>(as), reinterpret_cast<half*>(bs));
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const unsigned row0 = blockIdx.y * 128 + (warp >> 1) * 32, col0 = blockIdx.x * 128 + (warp & 1) * 64;
    if ((c_stride & 7) == 0 && blockIdx.y * 128 + 128 <= c_rows && blockIdx.x * 128 + 128 <= c_cols) {
#pragma unroll
        for (unsigned i = 0; i < 2; ++i)
#pragma unroll
            for (unsigned j = 0; j < 4; ++j)
                wmma::store_matrix_sync(c + static_cast<size_t>(row0 + i * 16) * c_stride + col0 + j * 16, acc[i][j],
                                        c_stride, wmma::mem_row_major);
        return;
    }
    // A tile on the edge: each warp stages one fragment after the other in its own 1 KB of shared memory.
    __syncthreads();
    float* stage = reinterpret_cast<float*>(as) + warp * 256;
#pragma unroll
    for (unsigned i = 0; i < 2; ++i)
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
            wmma::store_matrix_sync(stage, acc[i][j], 16, wmma::mem_row_major);
            __syncwarp();
            for (unsigned e = lane; e < 256; e += 32) {
                const unsigned row = row0 + i * 16 + (e >> 4), col = col0 + j * 16 + (e & 15);
                if (row < c_rows && col < c_cols) c[static_cast<size_t>(row) * c_stride + col] = stage[e];
            }
            __syncwarp();
        }
}
