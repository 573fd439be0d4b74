// out = the median of each pixel and its eight neighbours; the border stays as it is.
extern "C" __global__ void median_3x3(const unsigned char* __restrict__ picture, unsigned rows, unsigned columns, unsigned stride,
                                      unsigned char* __restrict__ out, unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= out_rows || column >= out_columns) return;
    if (row == 0 || column == 0 || row == rows - 1 || column == columns - 1) {
        out[(size_t)row * out_stride + column] = picture[(size_t)row * stride + column];
        return;
    }
    unsigned char window[9];
    for (int dy = 0; dy < 3; dy++) {
        for (int dx = 0; dx < 3; dx++) window[dy * 3 + dx] = picture[(size_t)(row + dy - 1) * stride + column + dx - 1];
    }
    for (int i = 0; i < 5; i++) {
        for (int j = i + 1; j < 9; j++) {
            if (window[j] < window[i]) {
                const unsigned char other = window[i];
                window[i] = window[j];
                window[j] = other;
            }
        }
    }
    out[(size_t)row * out_stride + column] = window[4];
}
