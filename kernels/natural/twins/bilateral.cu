// out = the mean of the pixels around each, the nearer and the more alike the heavier.
extern "C" __global__ void bilateral(const float* __restrict__ picture, unsigned rows, unsigned columns, unsigned stride, float near,
                                     float alike, float* __restrict__ out, unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= out_rows || column >= out_columns) return;
    const float centre = picture[(size_t)row * stride + column];
    float sum = 0.0f, total = 0.0f;
    for (int dy = -3; dy <= 3; dy++) {
        for (int dx = -3; dx <= 3; dx++) {
            const int y = row + dy, x = column + dx;
            if (y < 0 || x < 0 || y >= (int)rows || x >= (int)columns) continue;
            const float pixel = picture[(size_t)y * stride + x];
            const float difference = pixel - centre;
            const float weight = __expf(-(dy * dy + dx * dx) * near - difference * difference * alike);
            sum += weight * pixel;
            total += weight;
        }
    }
    out[(size_t)row * out_stride + column] = sum / total;
}
