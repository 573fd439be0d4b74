// The number of the entry that differs from each query in the fewest bits.
extern "C" __global__ void hamming(const unsigned long long (*__restrict__ queries)[4], size_t queries_len,
                                   const unsigned long long (*__restrict__ entries)[4], size_t entries_len,
                                   unsigned* __restrict__ nearest, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int least = 257;
    unsigned best = 0xffffffff;
    for (int number = 0; number < entries_len; number++) {
        int difference = 0;
        for (int j = 0; j < 4; j++) difference += __popcll(queries[i][j] ^ entries[number][j]);
        if (difference < least) {
            least = difference;
            best = number;
        }
    }
    nearest[i] = best;
}
