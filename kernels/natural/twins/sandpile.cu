// new = the grains of each place after all of four grains or more gave one to each neighbour; fell counts those.
static __device__ unsigned falls(const unsigned* grains, int rows, int columns, int stride, int row, int column) {
    if (row < 0 || column < 0 || row >= rows || column >= columns) return 0;
    return grains[(size_t)row * stride + column] >= 4;
}

extern "C" __global__ void sandpile(const unsigned* __restrict__ grains, unsigned rows, unsigned columns, unsigned stride, unsigned* fell,
                                    size_t fell_len, unsigned* __restrict__ out, unsigned out_rows, unsigned out_columns,
                                    unsigned out_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= out_rows || column >= out_columns) return;
    unsigned own = grains[(size_t)row * stride + column];
    unsigned received = falls(grains, rows, columns, stride, row - 1, column) + falls(grains, rows, columns, stride, row + 1, column) +
                        falls(grains, rows, columns, stride, row, column - 1) + falls(grains, rows, columns, stride, row, column + 1);
    if (own >= 4) {
        own -= 4;
        atomicAdd(fell, 1);
    }
    out[(size_t)row * out_stride + column] = own + received;
}
