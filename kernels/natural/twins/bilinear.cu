// out = the picture in another size, each pixel a mean of the four around its place.
extern "C" __global__ void bilinear(const float* __restrict__ picture, unsigned rows, unsigned columns, unsigned stride,
                                    float* __restrict__ out, unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= out_rows || column >= out_columns) return;
    const float x_scale = (float)columns / out_columns, y_scale = (float)rows / out_rows;
    const float x = fmaxf((column + 0.5f) * x_scale - 0.5f, 0.0f);
    const float y = fmaxf((row + 0.5f) * y_scale - 0.5f, 0.0f);
    const int left = x, top = y;
    const int right = min(left + 1, (int)columns - 1), bottom = min(top + 1, (int)rows - 1);
    const float fx = x - left, fy = y - top;
    const float* above = picture + (size_t)top * stride;
    const float* below = picture + (size_t)bottom * stride;
    const float upper = above[left] * (1.0f - fx) + above[right] * fx;
    const float lower = below[left] * (1.0f - fx) + below[right] * fx;
    out[(size_t)row * out_stride + column] = upper * (1.0f - fy) + lower * fy;
}
