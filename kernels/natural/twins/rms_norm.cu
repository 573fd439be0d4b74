// out = each row of x over its root mean square, times weights; a warp a row.
#include <cuda_fp16.h>

extern "C" __global__ void rms_norm(const __half* __restrict__ x, unsigned rows, unsigned columns, unsigned stride,
                                    const __half* __restrict__ weights, size_t weights_len, __half* __restrict__ out, unsigned out_rows,
                                    unsigned out_columns, unsigned out_stride) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    const __half* from = x + (size_t)row * stride;
    __half* to = out + (size_t)row * out_stride;
    float squares = 0.0f;
    for (int i = lane; i < columns; i += 32) {
        const float value = __half2float(from[i]);
        squares += value * value;
    }
    for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffff, squares, offset);
    const float scale = 1.0f / sqrtf(squares / columns + 1e-5f);
    for (int i = lane; i < columns; i += 32) to[i] = __float2half(__half2float(from[i]) * scale * __half2float(weights[i]));
}
