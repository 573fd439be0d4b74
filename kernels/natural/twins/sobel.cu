// How much brightness changes at each pixel; 0 at the border.
extern "C" __global__ void sobel(const unsigned char* __restrict__ picture, unsigned rows, unsigned columns, unsigned stride,
                                 unsigned char* __restrict__ out, unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= out_rows || column >= out_columns) return;
    unsigned char value = 0;
    if (row > 0 && column > 0 && row + 1 < rows && column + 1 < columns) {
        const unsigned char* above = picture + (size_t)(row - 1) * stride + column;
        const unsigned char* own = above + stride;
        const unsigned char* below = own + stride;
        const int gx = above[1] + 2 * own[1] + below[1] - above[-1] - 2 * own[-1] - below[-1];
        const int gy = below[-1] + 2 * below[0] + below[1] - above[-1] - 2 * above[0] - above[1];
        value = fminf(sqrtf(gx * gx + gy * gy), 255.0f);
    }
    out[(size_t)row * out_stride + column] = value;
}
