// out[r][c] = the largest of the values from x[r][c] to x[r][c + 8], and how far the first such is from the window's begin.
extern "C" __global__ void sliding_max(const short* __restrict__ x, unsigned rows, unsigned columns, unsigned stride,
                                       short2* __restrict__ out, unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= out_rows || column >= out_columns || column + 9 > columns) return;
    const short* window = x + (size_t)row * stride + column;
    short max = window[0], place = 0;
    for (int i = 1; i < 9; i++) {
        if (window[i] > max) {
            max = window[i];
            place = i;
        }
    }
    out[(size_t)row * out_stride + column] = make_short2(max, place);
}
