// large = the picture at scale as many pixels in each direction, by cubic curves; beyond the border it goes on as at the border.
static __device__ void weights(float t, float* w) {
    const float t2 = t * t, t3 = t * t * t;
    w[0] = -0.5f * t + t2 - 0.5f * t3;
    w[1] = 1.0f - 2.5f * t2 + 1.5f * t3;
    w[2] = 0.5f * t + 2.0f * t2 - 1.5f * t3;
    w[3] = -0.5f * t2 + 0.5f * t3;
}

extern "C" __global__ void bicubic(const float* __restrict__ picture, unsigned rows, unsigned columns, unsigned stride, float scale,
                                   float* __restrict__ out, unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= out_rows || column >= out_columns) return;
    const float y = row / scale, x = column / scale;
    const float top = floorf(y), left = floorf(x);
    float of_row[4], of_column[4];
    weights(y - top, of_row);
    weights(x - left, of_column);
    float sum = 0.0f;
    for (int i = 0; i < 4; i++) {
        const int y_in = min(max((int)top + i - 1, 0), (int)rows - 1);
        float part = 0.0f;
        for (int j = 0; j < 4; j++) {
            const int x_in = min(max((int)left + j - 1, 0), (int)columns - 1);
            part += of_column[j] * picture[(size_t)y_in * stride + x_in];
        }
        sum += of_row[i] * part;
    }
    out[(size_t)row * out_stride + column] = fminf(fmaxf(sum, 0.0f), 1.0f);
}
