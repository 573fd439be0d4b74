// out = each element, closer to its six neighbours; the border stays as it is.
extern "C" __global__ void stencil_3d(const float* __restrict__ x, size_t n, size_t width, size_t height, float rate,
                                      float* __restrict__ out, size_t out_len) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int w = width, h = height, depth = (int)n / (w * h);
    const int column = i % w, row = i / w % h, layer = i / (w * h);
    const float own = x[i];
    float value = own;
    if (column > 0 && column < w - 1 && row > 0 && row < h - 1 && layer > 0 && layer < depth - 1) {
        const float sum = x[i - 1] + x[i + 1] + x[i - w] + x[i + w] + x[i - w * h] + x[i + w * h];
        value = own + rate * (sum - 6.0f * own);
    }
    out[i] = value;
}
