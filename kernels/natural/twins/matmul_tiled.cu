// c = a times b, through tiles of 16 x 16 in shared memory.
extern "C" __global__ void __launch_bounds__(256)
matmul_tiled(const float* __restrict__ a, unsigned a_rows, unsigned a_columns, unsigned a_stride, const float* __restrict__ b,
             unsigned b_rows, unsigned b_columns, unsigned b_stride, float* __restrict__ c, unsigned c_rows, unsigned c_columns,
             unsigned c_stride) {
    __shared__ float tile_a[16][16], tile_b[16][16];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int start = 0; start < a_columns; start += 16) {
        tile_a[y][x] = row < a_rows && start + x < a_columns ? a[(size_t)row * a_stride + start + x] : 0.0f;
        tile_b[y][x] = start + y < b_rows && column < b_columns ? b[(size_t)(start + y) * b_stride + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads();
    }
    if (row < c_rows && column < c_columns) c[(size_t)row * c_stride + column] = sum;
}
