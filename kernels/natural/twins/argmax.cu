// places = the column of the first largest value of each row of x, a warp a row.
extern "C" __global__ void argmax(const float* __restrict__ x, unsigned rows, unsigned columns, unsigned stride,
                                  unsigned* __restrict__ places, size_t n) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    const float* from = x + (size_t)row * stride;
    float best = -INFINITY;
    unsigned place = 0xffffffff;
    for (int i = lane; i < columns; i += 32) {
        if (from[i] > best) {
            best = from[i];
            place = i;
        }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        const float other = __shfl_xor_sync(0xffffffff, best, offset);
        const unsigned other_place = __shfl_xor_sync(0xffffffff, place, offset);
        if (other > best || (other == best && other_place < place)) {
            best = other;
            place = other_place;
        }
    }
    if (lane == 0) places[row] = place;
}
