// c := alpha * a * b + beta * c, row-major, any size. Twin of kernels/src/sgemm.rs: 128 x 128 tiles, 256 threads of
// 8 x 8 results, 8 deep, two shared buffers; the next tile travels in registers while this one is multiplied.
namespace {
constexpr unsigned A_PITCH = 132;  // 128 + 4: the transposing stores of a warp hit 32 different banks
constexpr unsigned A_SIZE = 8 * A_PITCH, B_SIZE = 8 * 128;

struct Matrix {
    const float* data;
    unsigned rows, cols, stride;
};

template <bool VECTORS>
__device__ __forceinline__ float4 load(const Matrix& m, unsigned row, unsigned col) {
    const float* at = m.data + static_cast<size_t>(row) * m.stride + col;
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row < m.rows) {
        if (VECTORS) {
            if (col < m.cols) v = *reinterpret_cast<const float4*>(at);
        } else {
            if (col < m.cols) v.x = at[0];
            if (col + 1 < m.cols) v.y = at[1];
            if (col + 2 < m.cols) v.z = at[2];
            if (col + 3 < m.cols) v.w = at[3];
        }
    }
    return v;
}

template <bool VECTORS>
__device__ __forceinline__ void product(float (&acc)[8][8], const Matrix& a, const Matrix& b, float* as, float* bs) {
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5;
    const unsigned a_row = t >> 1, a_col = (t & 1) * 4, b_row = t >> 5, b_col = (t & 31) * 4;
    const unsigned row = blockIdx.y * 128 + a_row, col = blockIdx.x * 128 + b_col;
    const unsigned m = (warp >> 2) * 64 + (lane >> 2) * 4, n = (warp & 3) * 32 + (lane & 3) * 4;
    auto store = [&](unsigned buffer, const float4& next_a, const float4& next_b) {
        float* sa = as + buffer * A_SIZE + a_col * A_PITCH + a_row;
        sa[0 * A_PITCH] = next_a.x;
        sa[1 * A_PITCH] = next_a.y;
        sa[2 * A_PITCH] = next_a.z;
        sa[3 * A_PITCH] = next_a.w;
        *reinterpret_cast<float4*>(bs + buffer * B_SIZE + b_row * 128 + b_col) = next_b;
    };
    store(0, load<VECTORS>(a, row, a_col), load<VECTORS>(b, b_row, col));
    __syncthreads();
    unsigned buffer = 0;
    for (unsigned k = 0; k < a.cols; k += 8) {
        const float4 next_a = load<VECTORS>(a, row, k + 8 + a_col);
        const float4 next_b = load<VECTORS>(b, k + 8 + b_row, col);
        const float* sa = as + buffer * A_SIZE;
        const float* sb = bs + buffer * B_SIZE;
#pragma unroll
        for (unsigned d = 0; d < 8; ++d) {
            const float4 a0 = *reinterpret_cast<const float4*>(sa + d * A_PITCH + m);
            const float4 a1 = *reinterpret_cast<const float4*>(sa + d * A_PITCH + m + 32);
            const float4 b0 = *reinterpret_cast<const float4*>(sb + d * 128 + n);
            const float4 b1 = *reinterpret_cast<const float4*>(sb + d * 128 + n + 16);
            const float x[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
            const float y[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
            for (unsigned i = 0; i < 8; ++i)
#pragma unroll
                for (unsigned j = 0; j < 8; ++j) acc[i][j] += x[i] * y[j];
        }
        buffer ^= 1;
        store(buffer, next_a, next_b);
        __syncthreads();
    }
}
}  // namespace

extern "C" __global__ void __launch_bounds__(256, 2)
sgemm(float alpha, const float* __restrict__ a, unsigned a_rows, unsigned a_cols, unsigned a_stride,
      const float* __restrict__ b, unsigned b_rows, unsigned b_cols, unsigned b_stride, float beta,
      float* __restrict__ c, unsigned c_rows, unsigned c_cols, unsigned c_stride) {
    __shared__ float4 as[2 * A_SIZE / 4];
    __shared__ float4 bs[2 * B_SIZE / 4];
    const Matrix ma{a, a_rows, a_cols, a_stride}, mb{b, b_rows, b_cols, b_stride};
    const bool vectors = ((a_cols | a_stride | b_cols | b_stride | c_stride) & 3) == 0;
    float acc[8][8] = {};
    if (vectors)
        product<true>(acc, ma, mb, reinterpret_cast<float*>(as), reinterpret_cast<float*>(bs));
    else
        product<false>(acc, ma, mb, reinterpret_cast<float*>(as), reinterpret_cast<float*>(bs));
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const unsigned row0 = blockIdx.y * 128 + (warp >> 2) * 64 + (lane >> 2) * 4;
    const unsigned col0 = blockIdx.x * 128 + (warp & 3) * 32 + (lane & 3) * 4;
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
        const unsigned row = row0 + (i >> 2) * 32 + (i & 3);
        if (row >= c_rows) continue;
#pragma unroll
        for (unsigned h = 0; h < 2; ++h) {
            const unsigned col = col0 + h * 16;
            float* at = c + static_cast<size_t>(row) * c_stride + col;
            const float* r = &acc[i][h * 4];
            if (vectors) {
                if (col >= c_cols) continue;
                float4 v = make_float4(alpha * r[0], alpha * r[1], alpha * r[2], alpha * r[3]);
                if (beta != 0.0f) {
                    const float4 old = *reinterpret_cast<const float4*>(at);
                    v.x += beta * old.x; v.y += beta * old.y; v.z += beta * old.z; v.w += beta * old.w;
                }
                *reinterpret_cast<float4*>(at) = v;
            } else {
#pragma unroll
                for (unsigned j = 0; j < 4; ++j)
                    if (col + j < c_cols) at[j] = beta != 0.0f ? alpha * r[j] + beta * at[j] : alpha * r[j];
            }
        }
    }
}
