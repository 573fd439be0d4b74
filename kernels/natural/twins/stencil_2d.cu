// out = the mean of each element's four neighbours; the border stays as it is.
extern "C" __global__ void stencil_2d(const float* __restrict__ x, unsigned rows, unsigned columns, unsigned stride,
                                      float* __restrict__ out, unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= out_rows || column >= out_columns) return;
    const float* own = x + (size_t)row * stride + column;
    float value = *own;
    if (row > 0 && column > 0 && row + 1 < rows && column + 1 < columns) {
        value = 0.25f * (own[-(int)stride] + own[stride] + own[-1] + own[1]);
    }
    out[(size_t)row * out_stride + column] = value;
}
