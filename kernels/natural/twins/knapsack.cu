// The most that can be put into each sack, of things of a weight and a value: those from starts[b] to starts[b + 1]; a block a sack.
extern "C" __global__ void __launch_bounds__(256) knapsack(const uint2* __restrict__ things, size_t things_len,
                                                           const unsigned* __restrict__ starts, size_t starts_len,
                                                           unsigned* __restrict__ best, size_t n) {
    __shared__ unsigned before[1024];
    const int sack = blockIdx.x, t = threadIdx.x;
    unsigned own[4] = {0};
    for (int i = starts[sack]; i < starts[sack + 1]; i++) {
        const int weight = things[i].x;
        const unsigned value = things[i].y;
        __syncthreads();
        for (int j = 0; j < 4; j++) before[t + 256 * j] = own[j];
        __syncthreads();
        for (int j = 0; j < 4; j++) {
            const int w = t + 256 * j;
            if (w >= weight) own[j] = max(own[j], before[w - weight] + value);
        }
    }
    __syncthreads();
    for (int j = 0; j < 4; j++) before[t + 256 * j] = own[j];
    __syncthreads();
    if (t == 0) best[sack] = before[1023];
}
