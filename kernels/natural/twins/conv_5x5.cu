// out = the picture folded with a filter of 5 x 5, through tiles in shared memory; beyond the border is nothing.
#define SIDE 16
#define TAPS 5
#define WIDE (SIDE + TAPS - 1)

struct Filter {
    float w[TAPS][TAPS];
};

extern "C" __global__ void __launch_bounds__(256) conv_5x5(const float* __restrict__ picture, unsigned rows, unsigned columns,
                                                           unsigned stride, Filter filter, float* __restrict__ out, unsigned out_rows,
                                                           unsigned out_columns, unsigned out_stride) {
    __shared__ float tile[WIDE][WIDE];
    const int top = blockIdx.y * SIDE - 2, left = blockIdx.x * SIDE - 2;
    for (int r = threadIdx.y; r < WIDE; r += SIDE) {
        for (int c = threadIdx.x; c < WIDE; c += SIDE) {
            const int y = top + r, x = left + c;
            const bool inside = y >= 0 && x >= 0 && y < (int)rows && x < (int)columns;
            tile[r][c] = inside ? picture[(size_t)y * stride + x] : 0.0f;
        }
    }
    __syncthreads();
    const int row = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
    if (row >= out_rows || column >= out_columns) return;
    float sum = 0.0f;
    for (int dy = 0; dy < TAPS; dy++) {
        for (int dx = 0; dx < TAPS; dx++) sum += filter.w[dy][dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
    }
    out[(size_t)row * out_stride + column] = sum;
}
