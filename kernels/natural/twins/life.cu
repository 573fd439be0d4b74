// The next generation of Conway's game of life on a torus.
extern "C" __global__ void life(const unsigned char* __restrict__ old, unsigned rows, unsigned columns, unsigned stride,
                                unsigned char* __restrict__ next, unsigned next_rows, unsigned next_columns, unsigned next_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= next_rows || column >= next_columns) return;
    int neighbours = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (dy != 0 || dx != 0) {
                const int y = (row + rows + dy) % rows, x = (column + columns + dx) % columns;
                neighbours += old[(size_t)y * stride + x];
            }
        }
    }
    const bool is_alive = old[(size_t)row * stride + column] == 1;
    next[(size_t)row * next_stride + column] = neighbours == 3 || (is_alive && neighbours == 2);
}
