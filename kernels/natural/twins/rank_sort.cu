// Where each key goes in sorted order, by counting those that go before it, through tiles of 256 keys in shared memory.
extern "C" __global__ void __launch_bounds__(256) rank_sort(const int* __restrict__ keys, size_t keys_len, unsigned* __restrict__ ranks,
                                                            size_t n) {
    __shared__ int tile[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    const int own = i < keys_len ? keys[i] : 0x7fffffff;
    unsigned rank = 0;
    for (int start = 0; start < keys_len; start += 256) {
        const int at = start + threadIdx.x;
        __syncthreads();
        tile[threadIdx.x] = at < keys_len ? keys[at] : 0x7fffffff;
        __syncthreads();
        for (int j = 0; j < 256; j++) {
            if (tile[j] < own || (tile[j] == own && start + j < i)) rank++;
        }
    }
    if (i < n) ranks[i] = rank;
}
