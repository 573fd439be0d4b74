// y := a * x + y. Twin of kernels/src/saxpy.rs: two 16-byte vectors a thread, a scalar tail of at most 3.
extern "C" __global__ void __launch_bounds__(256)
saxpy(float a, const float* __restrict__ x, size_t x_len, float* __restrict__ y, size_t y_len) {
    const size_t n = x_len < y_len ? x_len : y_len;
    const size_t vectors = n / 4;
    const float4* xv = reinterpret_cast<const float4*>(x);
    float4* yv = reinterpret_cast<float4*>(y);
    const size_t first = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x;
    const size_t second = first + static_cast<size_t>(gridDim.x) * 256;
    if (second < vectors) {
        const float4 x0 = xv[first], x1 = xv[second];
        float4 y0 = yv[first], y1 = yv[second];
        y0.x += a * x0.x; y0.y += a * x0.y; y0.z += a * x0.z; y0.w += a * x0.w;
        y1.x += a * x1.x; y1.y += a * x1.y; y1.z += a * x1.z; y1.w += a * x1.w;
        yv[first] = y0;
        yv[second] = y1;
    } else if (first < vectors) {
        const float4 x0 = xv[first];
        float4 y0 = yv[first];
        y0.x += a * x0.x; y0.y += a * x0.y; y0.z += a * x0.z; y0.w += a * x0.w;
        yv[first] = y0;
    }
    if (first < n % 4) {
        y[vectors * 4 + first] += a * x[vectors * 4 + first];
    }
}
