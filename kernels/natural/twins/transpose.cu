// to = the transpose of from, through tiles of 32 x 32 in shared memory; a block has 32 x 8 threads.
extern "C" __global__ void __launch_bounds__(256) transpose(const float* __restrict__ from, unsigned rows, unsigned columns, unsigned stride,
                                                            float* __restrict__ to, unsigned to_rows, unsigned to_columns,
                                                            unsigned to_stride) {
    __shared__ float tile[32][33];
    const int row = blockIdx.y * 32, column = blockIdx.x * 32;
    for (int r = threadIdx.y; r < 32; r += blockDim.y) {
        const int y = column + r, x = row + threadIdx.x;
        tile[r][threadIdx.x] = y < rows && x < columns ? from[(size_t)y * stride + x] : 0.0f;
    }
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += blockDim.y) {
        const int y = row + r, x = column + threadIdx.x;
        if (y < to_rows && x < to_columns) to[(size_t)y * to_stride + x] = tile[threadIdx.x][r];
    }
}
