// y = a times x, with sums in float, a warp a row.
#include <cuda_fp16.h>

extern "C" __global__ void gemv_f16(const __half* __restrict__ a, unsigned rows, unsigned columns, unsigned stride,
                                    const __half* __restrict__ x, size_t x_len, float* __restrict__ y, size_t y_len) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const __half* own = a + (size_t)row * stride;
    float sum = 0.0f;
    for (int i = lane; i < columns; i += 32) sum += __half2float(own[i]) * __half2float(x[i]);
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (lane == 0) y[row] = sum;
}
