// sums[b] = the sum of block b's elements, by a tree in shared memory.
extern "C" __global__ void __launch_bounds__(256) block_sum(const float* __restrict__ x, size_t n, float* __restrict__ sums,
                                                            size_t blocks) {
    __shared__ float all[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    all[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int distance = 128; distance > 0; distance /= 2) {
        if (t < distance) all[t] += all[t + distance];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = all[0];
}
