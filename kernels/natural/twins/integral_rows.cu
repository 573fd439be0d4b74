// sums = for each pixel the sum of its row up to it, a warp a row.
extern "C" __global__ void integral_rows(const unsigned char* __restrict__ picture, unsigned rows, unsigned columns, unsigned stride,
                                         unsigned* __restrict__ sums, unsigned sums_rows, unsigned sums_columns, unsigned sums_stride) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= sums_rows) return;
    const unsigned char* from = picture + (size_t)row * stride;
    unsigned* to = sums + (size_t)row * sums_stride;
    unsigned carry = 0;
    for (int start = 0; start < columns; start += 32) {
        const int column = start + lane;
        unsigned sum = column < columns ? from[column] : 0;
        for (int distance = 1; distance < 32; distance *= 2) {
            const unsigned before = __shfl_up_sync(0xffffffff, sum, distance);
            if (lane >= distance) sum += before;
        }
        sum += carry;
        if (column < columns) to[column] = sum;
        carry = __shfl_sync(0xffffffff, sum, 31);
    }
}
