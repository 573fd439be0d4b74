// How many elements of sorted are less than each query.
extern "C" __global__ void binary_search(const unsigned* __restrict__ sorted, size_t length, const unsigned* __restrict__ queries,
                                         size_t queries_len, unsigned* __restrict__ places, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned query = queries[i];
    int low = 0, high = length;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < query) low = middle + 1;
        else high = middle;
    }
    places[i] = low;
}
