// product = a sparse matrix times a dense one of 8 columns, a thread a row. Row i has the entries from starts[i] to starts[i + 1].
extern "C" __global__ void spmm(const unsigned* __restrict__ starts, size_t starts_len, const unsigned* __restrict__ columns,
                                size_t columns_len, const float* __restrict__ values, size_t values_len,
                                const float (*__restrict__ dense)[8], size_t dense_len, float (*__restrict__ product)[8], size_t rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sums[8] = {0.0f};
    const int end = starts[row + 1];
    for (int entry = starts[row]; entry < end; entry++) {
        const float value = values[entry];
        const unsigned column = columns[entry];
        for (int j = 0; j < 8; j++) sums[j] += value * dense[column][j];
    }
    for (int j = 0; j < 8; j++) product[row][j] = sums[j];
}
