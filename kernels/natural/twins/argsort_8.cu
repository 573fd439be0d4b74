// The places of the elements of each list of eight, the smallest element's first; of equal ones the first.
struct Pair {
    float value;
    unsigned char place;
};

static __device__ void compare(Pair* pairs, int i, int j) {
    const Pair a = pairs[i], b = pairs[j];
    if (b.value < a.value || (b.value == a.value && b.place < a.place)) {
        pairs[i] = b;
        pairs[j] = a;
    }
}

extern "C" __global__ void argsort_8(const float (*__restrict__ lists)[8], size_t lists_len, unsigned char (*__restrict__ orders)[8],
                                     size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int network[19][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {0, 1}, {2, 3},
                                {4, 5}, {6, 7}, {2, 4}, {3, 5}, {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};
    Pair pairs[8];
    for (int j = 0; j < 8; j++) {
        pairs[j].value = lists[i][j];
        pairs[j].place = j;
    }
    for (int step = 0; step < 19; step++) compare(pairs, network[step][0], network[step][1]);
    for (int j = 0; j < 8; j++) orders[i][j] = pairs[j].place;
}
