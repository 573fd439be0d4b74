// The next generation of Conway's game of life on a plane that is empty around, 64 cells a word.
typedef unsigned long long u64;

static __device__ void add(u64* bits, u64 carry) {
    for (int i = 0; i < 3; i++) {
        const u64 more = bits[i] & carry;
        bits[i] ^= carry;
        carry = more;
    }
}

extern "C" __global__ void life_bits(const u64* __restrict__ old, unsigned rows, unsigned columns, unsigned stride, u64* __restrict__ out,
                                     unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= out_rows || column >= out_columns) return;
    u64 bits[3] = {};
    for (int dy = -1; dy <= 1; dy++) {
        const int y = row + dy;
        if (y < 0 || y >= (int)rows) continue;
        const u64* words = old + (size_t)y * stride;
        const u64 west = column > 0 ? words[column - 1] : 0;
        const u64 here = words[column];
        const u64 east = column + 1 < (int)columns ? words[column + 1] : 0;
        add(bits, here << 1 | west >> 63);
        add(bits, here >> 1 | east << 63);
        if (dy != 0) add(bits, here);
    }
    const u64 is_three = bits[0] & bits[1] & ~bits[2], is_two = ~bits[0] & bits[1] & ~bits[2];
    out[(size_t)row * out_stride + column] = is_three | (is_two & old[(size_t)row * stride + column]);
}
