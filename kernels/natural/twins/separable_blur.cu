// out = the picture, blurred with these weights along rows, then along columns; a block has 16 x 16 threads.
#define SIDE 16
#define RADIUS 4
#define WIDE (SIDE + 2 * RADIUS)

struct Weights {
    float w[2 * RADIUS + 1];
};

extern "C" __global__ void __launch_bounds__(256) separable_blur(const float* __restrict__ picture, unsigned rows, unsigned columns,
                                                                 unsigned stride, Weights weights, float* __restrict__ out,
                                                                 unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    __shared__ float tile[WIDE][WIDE];
    __shared__ float along_rows[WIDE][SIDE];
    const int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    for (int r = threadIdx.y; r < WIDE; r += SIDE) {
        for (int c = threadIdx.x; c < WIDE; c += SIDE) {
            const int row = min(max(top + r - RADIUS, 0), (int)rows - 1);
            const int column = min(max(left + c - RADIUS, 0), (int)columns - 1);
            tile[r][c] = picture[(size_t)row * stride + column];
        }
    }
    __syncthreads();
    for (int r = threadIdx.y; r < WIDE; r += SIDE) {
        float sum = 0.0f;
        for (int i = 0; i < 2 * RADIUS + 1; i++) sum += weights.w[i] * tile[r][threadIdx.x + i];
        along_rows[r][threadIdx.x] = sum;
    }
    __syncthreads();
    const int row = top + threadIdx.y, column = left + threadIdx.x;
    if (row >= out_rows || column >= out_columns) return;
    float sum = 0.0f;
    for (int i = 0; i < 2 * RADIUS + 1; i++) sum += weights.w[i] * along_rows[threadIdx.y + i][threadIdx.x];
    out[(size_t)row * out_stride + column] = sum;
}
