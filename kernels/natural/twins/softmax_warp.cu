// out = softmax of each row of x, a warp a row.
extern "C" __global__ void softmax_warp(const float* __restrict__ x, unsigned rows, unsigned columns, unsigned stride,
                                        float* __restrict__ out, unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    const float* from = x + (size_t)row * stride;
    float* to = out + (size_t)row * out_stride;
    float max = -INFINITY;
    for (int i = lane; i < columns; i += 32) max = fmaxf(max, from[i]);
    for (int offset = 16; offset > 0; offset /= 2) max = fmaxf(max, __shfl_xor_sync(0xffffffff, max, offset));
    float sum = 0.0f;
    for (int i = lane; i < columns; i += 32) sum += __expf(from[i] - max);
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    for (int i = lane; i < columns; i += 32) to[i] = __expf(from[i] - max) / sum;
}
