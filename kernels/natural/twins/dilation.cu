// out = the brightest of the 5 x 5 pixels around each one, through tiles in shared memory; beyond the border it is dark.
#define WIDTH 32
#define HEIGHT 8
#define RADIUS 2

extern "C" __global__ void __launch_bounds__(WIDTH* HEIGHT)
dilation(const unsigned char* __restrict__ picture, unsigned rows, unsigned columns, unsigned stride, unsigned char* __restrict__ out,
         unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    __shared__ unsigned char tile[HEIGHT + 2 * RADIUS][WIDTH + 2 * RADIUS];
    const int top = blockIdx.y * HEIGHT - RADIUS, left = blockIdx.x * WIDTH - RADIUS;
    for (int r = threadIdx.y; r < HEIGHT + 2 * RADIUS; r += HEIGHT) {
        for (int c = threadIdx.x; c < WIDTH + 2 * RADIUS; c += WIDTH) {
            const int y = top + r, x = left + c;
            const bool inside = y >= 0 && x >= 0 && y < (int)rows && x < (int)columns;
            tile[r][c] = inside ? picture[(size_t)y * stride + x] : 0;
        }
    }
    __syncthreads();
    const int row = blockIdx.y * HEIGHT + threadIdx.y, column = blockIdx.x * WIDTH + threadIdx.x;
    if (row >= out_rows || column >= out_columns) return;
    unsigned char brightest = 0;
    for (int dy = 0; dy <= 2 * RADIUS; dy++) {
        for (int dx = 0; dx <= 2 * RADIUS; dx++) brightest = max(brightest, tile[threadIdx.y + dy][threadIdx.x + dx]);
    }
    out[(size_t)row * out_stride + column] = brightest;
}
