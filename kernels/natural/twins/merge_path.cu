// The elements of the sorted lists a and b in order, eight a thread; behind the last one is 0xffffffff.
extern "C" __global__ void merge_path(const unsigned* __restrict__ a, size_t a_len, const unsigned* __restrict__ b, size_t b_len,
                                      unsigned (*__restrict__ merged)[8], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int as = a_len, bs = b_len;
    const int before = min(i * 8, as + bs);
    int low = max(before - bs, 0), high = min(before, as);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (a[middle] <= b[before - 1 - middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    int left = low, right = before - low;
    for (int j = 0; j < 8; j++) {
        if (left < as && (right >= bs || a[left] <= b[right])) {
            merged[i][j] = a[left++];
        } else if (right < bs) {
            merged[i][j] = b[right++];
        } else {
            merged[i][j] = 0xffffffff;
        }
    }
}
