// out = each row of x with mean 0 and variance 1, times gamma, plus beta; a warp a row, sixteen bytes at a time.
#include <cuda_bf16.h>

struct __align__(16) Vector {
    __nv_bfloat16 v[8];
};

extern "C" __global__ void layer_norm_bf16(const Vector* __restrict__ x, unsigned rows, unsigned columns, unsigned stride,
                                           const Vector* __restrict__ gamma, size_t gamma_len, const Vector* __restrict__ beta,
                                           size_t beta_len, Vector* __restrict__ out, unsigned out_rows, unsigned out_columns,
                                           unsigned out_stride) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    const Vector* from = x + (size_t)row * stride;
    Vector* to = out + (size_t)row * out_stride;
    const float count = columns * 8;
    float sum = 0.0f;
    for (int i = lane; i < columns; i += 32) {
        const Vector vector = from[i];
        for (int j = 0; j < 8; j++) sum += __bfloat162float(vector.v[j]);
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    const float mean = sum / count;
    float squares = 0.0f;
    for (int i = lane; i < columns; i += 32) {
        const Vector vector = from[i];
        for (int j = 0; j < 8; j++) {
            const float difference = __bfloat162float(vector.v[j]) - mean;
            squares += difference * difference;
        }
    }
    for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffff, squares, offset);
    const float inverse = rsqrtf(squares / count + 1e-5f);
    for (int i = lane; i < columns; i += 32) {
        const Vector vector = from[i], g = gamma[i], b = beta[i];
        Vector result;
        for (int j = 0; j < 8; j++) {
            const float y = (__bfloat162float(vector.v[j]) - mean) * inverse * __bfloat162float(g.v[j]) + __bfloat162float(b.v[j]);
            result.v[j] = __float2bfloat16(y);
        }
        to[i] = result;
    }
}
