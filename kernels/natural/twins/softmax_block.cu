// out = softmax of each row of x, a block a row.
static __device__ float block_max(float* partial, float value) {
    for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, offset));
    __syncthreads();
    partial[threadIdx.x] = value;
    __syncthreads();
    float total = partial[0];
    for (int warp = 1; warp < 8; warp++) total = fmaxf(total, partial[warp * 32]);
    return total;
}

static __device__ float block_sum(float* partial, float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
    __syncthreads();
    partial[threadIdx.x] = value;
    __syncthreads();
    float total = partial[0];
    for (int warp = 1; warp < 8; warp++) total += partial[warp * 32];
    return total;
}

extern "C" __global__ void __launch_bounds__(256)
softmax_block(const float* __restrict__ x, unsigned rows, unsigned columns, unsigned stride, float* __restrict__ out, unsigned out_rows,
              unsigned out_columns, unsigned out_stride) {
    __shared__ float partial[256];
    const int row = blockIdx.x;
    if (row >= rows) return;
    const float* from = x + (size_t)row * stride;
    float* to = out + (size_t)row * out_stride;
    float max = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += 256) max = fmaxf(max, from[i]);
    max = block_max(partial, max);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 256) sum += __expf(from[i] - max);
    sum = block_sum(partial, sum);
    for (int i = threadIdx.x; i < columns; i += 256) to[i] = __expf(from[i] - max) / sum;
}
