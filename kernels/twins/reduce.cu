// sum[0] += the sum of x. Twin of kernels/src/reduce.rs: a persistent grid, four 16-byte loads in flight a
// thread, warp shuffles, one shared slot a warp, one atomic a block.
extern "C" __global__ void __launch_bounds__(256)
reduce(const float* __restrict__ x, size_t n, float* sum, size_t) {
    __shared__ float partial[8];
    const size_t vectors = n / 4;
    const float4* xv = reinterpret_cast<const float4*>(x);
    const size_t step = static_cast<size_t>(gridDim.x) * 1024;
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    size_t i = static_cast<size_t>(blockIdx.x) * 1024 + threadIdx.x;
    for (; i + 768 < vectors; i += step) {
        const float4 a = xv[i], b = xv[i + 256], c = xv[i + 512], d = xv[i + 768];
        s0 += (a.x + a.y) + (a.z + a.w);
        s1 += (b.x + b.y) + (b.z + b.w);
        s2 += (c.x + c.y) + (c.z + c.w);
        s3 += (d.x + d.y) + (d.z + d.w);
    }
    for (; i < vectors; i += 256) {
        const float4 a = xv[i];
        s0 += (a.x + a.y) + (a.z + a.w);
    }
    const size_t tail = vectors * 4 + threadIdx.x;
    if (blockIdx.x == 0 && tail < n) s1 += x[tail];
    float s = (s0 + s1) + (s2 + s3);
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) s += __shfl_xor_sync(0xffffffffu, s, offset);
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = threadIdx.x < 8 ? partial[threadIdx.x] : 0.0f;
#pragma unroll
        for (int offset = 4; offset > 0; offset >>= 1) s += __shfl_xor_sync(0xffffffffu, s, offset);
        if (threadIdx.x == 0) atomicAdd(sum, s);
    }
}
