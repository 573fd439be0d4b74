// Sorts rows of 512 keys in shared memory, a block a row.
extern "C" __global__ void __launch_bounds__(256) bitonic_block(unsigned* keys, unsigned rows, unsigned columns, unsigned stride) {
    __shared__ unsigned tile[512];
    const int t = threadIdx.x;
    if (blockIdx.x >= rows) return;
    unsigned* row = keys + (size_t)blockIdx.x * stride;
    for (int i = t; i < columns; i += 256) tile[i] = row[i];
    for (int size = 2; size <= 512; size *= 2) {
        for (int distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            const int i = 2 * t - (t & (distance - 1));
            const int j = i + distance;
            const bool is_ascending = (i & size) == 0;
            const unsigned a = tile[i], b = tile[j];
            if ((a > b) == is_ascending) {
                tile[i] = b;
                tile[j] = a;
            }
        }
    }
    __syncthreads();
    for (int i = t; i < columns; i += 256) row[i] = tile[i];
}
