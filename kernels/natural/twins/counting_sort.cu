// Sorts each segment of 2048 keys below 256 by counting them in shared memory; the last segment may be shorter.
#define THREADS 256
#define SEGMENT 2048
#define VALUES 256

extern "C" __global__ void __launch_bounds__(THREADS)
counting_sort(const unsigned* __restrict__ keys, size_t n, unsigned* __restrict__ sorted, size_t sorted_len) {
    __shared__ unsigned counts[VALUES], sums[VALUES], places[VALUES];
    const int t = threadIdx.x;
    const int begin = blockIdx.x * SEGMENT;
    const int length = min((int)n - begin, SEGMENT);
    counts[t] = 0;
    __syncthreads();
    for (int i = t; i < length; i += THREADS) atomicAdd(&counts[keys[begin + i]], 1);
    __syncthreads();
    unsigned end = counts[t];
    for (int distance = 1; distance < VALUES; distance *= 2) {
        __syncthreads();
        sums[t] = end;
        __syncthreads();
        if (t >= distance) end += sums[t - distance];
    }
    places[t] = end - counts[t];
    __syncthreads();
    for (int i = t; i < length; i += THREADS) {
        const unsigned key = keys[begin + i];
        const unsigned place = atomicAdd(&places[key], 1);
        sorted[begin + place] = key;
    }
}
