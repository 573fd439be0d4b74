// y = the matrix times x, a warp a row. Row i has the entries from starts[i] to starts[i + 1].
extern "C" __global__ void spmv(const unsigned* __restrict__ starts, size_t starts_len, const unsigned* __restrict__ columns,
                                size_t columns_len, const float* __restrict__ values, size_t values_len, const float* __restrict__ x,
                                size_t x_len, float* __restrict__ y, size_t rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int end = starts[row + 1];
    float sum = 0.0f;
    for (int i = starts[row] + lane; i < end; i += 32) sum += values[i] * x[columns[i]];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (lane == 0) y[row] = sum;
}
