// The place that is distance behind each on Hilbert's curve through a square of 2^16 columns.
static __device__ void turn(unsigned& x, unsigned& y, unsigned right, unsigned upper, unsigned last) {
    if (upper == 0) {
        if (right == 1) {
            x = last - x;
            y = last - y;
        }
        const unsigned other = x;
        x = y;
        y = other;
    }
}

extern "C" __global__ void hilbert(const ushort2* __restrict__ places, size_t places_len, unsigned distance, ushort2* __restrict__ moved,
                                   size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = places[i].x, y = places[i].y;
    unsigned way = 0;
    for (int bit = 15; bit >= 0; bit--) {
        const unsigned right = x >> bit & 1, upper = y >> bit & 1, last = (1u << bit) - 1;
        x &= last;
        y &= last;
        turn(x, y, right, upper, last);
        way = way << 2 | ((3 * right) ^ upper);
    }
    way += distance;
    x = 0;
    y = 0;
    for (int bit = 0; bit < 16; bit++) {
        const unsigned quarter = way >> (2 * bit) & 3;
        const unsigned right = quarter >> 1, upper = (quarter ^ right) & 1;
        turn(x, y, right, upper, (1u << bit) - 1);
        x |= right << bit;
        y |= upper << bit;
    }
    moved[i] = make_ushort2(x, y);
}
