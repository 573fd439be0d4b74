// out[i] = the sum of the elements of the thread's block up to i.
extern "C" __global__ void __launch_bounds__(256) block_scan(const unsigned* __restrict__ x, size_t x_len, unsigned* __restrict__ out,
                                                             size_t n) {
    __shared__ unsigned buffer[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    unsigned sum = i < x_len ? x[i] : 0;
    for (int distance = 1; distance < 256; distance *= 2) {
        __syncthreads();
        buffer[t] = sum;
        __syncthreads();
        if (t >= distance) sum += buffer[t - distance];
    }
    if (i < n) out[i] = sum;
}
