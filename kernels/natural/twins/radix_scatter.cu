// Writes each key behind the others of its digit (8 bits at shift). starts says where a digit's keys begin, and moves on.
extern "C" __global__ void __launch_bounds__(256) radix_scatter(const unsigned* __restrict__ keys, size_t n, unsigned shift,
                                                                unsigned* starts, size_t digits, unsigned* __restrict__ out,
                                                                size_t out_len) {
    __shared__ unsigned counts[256], places[256];
    const int t = threadIdx.x;
    const int first = blockIdx.x * 256 * 8 + t;
    counts[t] = 0;
    __syncthreads();
    unsigned own[8], ranks[8];
    for (int i = 0; i < 8; i++) {
        const int j = first + i * 256;
        if (j < n) {
            own[i] = keys[j];
            ranks[i] = atomicAdd(&counts[own[i] >> shift & 255], 1);
        }
    }
    __syncthreads();
    places[t] = atomicAdd(&starts[t], counts[t]);
    __syncthreads();
    for (int i = 0; i < 8; i++) {
        if (first + i * 256 < n) out[places[own[i] >> shift & 255] + ranks[i]] = own[i];
    }
}
