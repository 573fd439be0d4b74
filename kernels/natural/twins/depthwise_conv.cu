// out = each plane of x folded with its channel's filter of 3 x 3, plus the bias, where that is positive.
typedef unsigned long long u64;

extern "C" __global__ void depthwise_conv(const float* __restrict__ x, size_t x_len, const float (*__restrict__ filters)[3][3],
                                          size_t channels, const float* __restrict__ biases, size_t biases_len, float* __restrict__ out,
                                          unsigned depth, unsigned rows, u64 columns_and_stride) {
    const int columns = (unsigned)columns_and_stride, stride = columns_and_stride >> 32;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int layer = blockIdx.z * blockDim.z + threadIdx.z;
    if (layer >= depth || row >= rows || column >= columns) return;
    const int channel = layer % (int)channels;
    const float* plane = x + (size_t)layer * rows * columns;
    float sum = biases[channel];
    for (int dy = 0; dy < 3; dy++) {
        const int y_in = row + dy - 1;
        if (y_in < 0 || y_in >= rows) continue;
        for (int dx = 0; dx < 3; dx++) {
            const int x_in = column + dx - 1;
            if (x_in < 0 || x_in >= columns) continue;
            sum += filters[channel][dy][dx] * plane[y_in * columns + x_in];
        }
    }
    out[((size_t)layer * rows + row) * stride + column] = fmaxf(sum, 0.0f);
}
