// Adds to counts how many keys have each digit of 8 bits at shift.
extern "C" __global__ void __launch_bounds__(256) radix_histogram(const unsigned* __restrict__ keys, size_t n, unsigned shift,
                                                                  unsigned* counts, size_t digits) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[keys[i] >> shift & 255], 1);
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}
