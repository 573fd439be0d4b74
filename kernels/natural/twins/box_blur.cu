// out = the mean of the pixels that are at most radius away in each direction.
extern "C" __global__ void box_blur(const float* __restrict__ picture, unsigned rows, unsigned columns, unsigned stride, size_t radius,
                                    float* __restrict__ out, unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= out_rows || column >= out_columns) return;
    const int r = radius;
    float sum = 0.0f;
    int count = 0;
    for (int y = max(row - r, 0); y <= min(row + r, (int)rows - 1); y++) {
        for (int x = max(column - r, 0); x <= min(column + r, (int)columns - 1); x++) {
            sum += picture[(size_t)y * stride + x];
            count++;
        }
    }
    out[(size_t)row * out_stride + column] = sum / count;
}
