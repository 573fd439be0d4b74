// The largest eigenvalue of a symmetric matrix: the body of a graph's conditional while. Twins of
// kernels/src/power_iteration.rs: multiply (y := a * x, sums := x.y and x.x), normalise (x := y / eigenvalue), check
// (done?).
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);

extern "C" __global__ void __launch_bounds__(256)
power_multiply(const float* __restrict__ a, unsigned rows, unsigned cols, unsigned stride,
               const float* __restrict__ x, size_t, float* __restrict__ y, size_t, float* sums, size_t) {
    __shared__ float partial[16];
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const unsigned row = blockIdx.x * 8 + warp;
    float sum = 0.0f;
    if (row < rows) {
        const float* at = a + static_cast<size_t>(row) * stride;
        if (((cols | stride) & 3) == 0) {
            const float4* av = reinterpret_cast<const float4*>(at);
            const float4* xv = reinterpret_cast<const float4*>(x);
            float other = 0.0f;
            unsigned i = lane;
            for (; i + 32 < cols / 4; i += 64) {
                const float4 p = av[i], q = xv[i], r = av[i + 32], s = xv[i + 32];
                sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
                other += r.x * s.x + r.y * s.y + r.z * s.z + r.w * s.w;
            }
            if (i < cols / 4) {
                const float4 p = av[i], q = xv[i];
                sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
            }
            sum += other;
        } else {
            for (unsigned i = lane; i < cols; i += 32) sum += at[i] * x[i];
        }
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane == 0) {
        const float own = row < rows ? x[row] : 0.0f;
        if (row < rows) y[row] = sum;
        partial[warp] = own * sum;
        partial[warp + 8] = own * own;
    }
    __syncthreads();
    if (threadIdx.x < 2) {
        float total = 0.0f;
#pragma unroll
        for (int w = 0; w < 8; ++w) total += partial[threadIdx.x * 8 + w];
        atomicAdd(sums + threadIdx.x, total);
    }
}

extern "C" __global__ void __launch_bounds__(256)
power_normalise(const float* __restrict__ y, size_t n, float* __restrict__ x, size_t, const float* __restrict__ sums, size_t) {
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) x[i] = y[i] * (sums[1] / sums[0]);
}

// result: eigenvalue, its last change, iterations.
extern "C" __global__ void
power_check(float* sums, size_t, float* result, size_t, float tolerance, unsigned max_iterations, unsigned long long handle) {
    const float value = sums[0] / sums[1];
    const float change = fabsf(value - result[0]);
    const float iterations = result[2] + 1.0f;
    result[0] = value;
    result[1] = change;
    result[2] = iterations;
    sums[0] = 0.0f;
    sums[1] = 0.0f;
    const bool again = change > tolerance * fabsf(value) && iterations < static_cast<float>(max_iterations);
    cudaGraphSetConditional(handle, again ? 1u : 0u);
}
