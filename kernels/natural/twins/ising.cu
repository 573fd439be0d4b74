// Updates the spins of one colour of a chequered lattice whose ends meet, given those of the other colour; in the rows of parity shifted,
// sites of this colour are behind those of the other. chances[i] is how probable, of 2^32, a spin turns that agrees with i neighbours.
struct Chances {
    unsigned c[5];
};

static __device__ unsigned random_of(unsigned seed, unsigned site) {
    unsigned x = seed ^ site * 0x9E3779B1u;
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    return x ^ x >> 16;
}

extern "C" __global__ void ising(const signed char* __restrict__ others, unsigned rows, unsigned columns, unsigned stride, unsigned shifted,
                                 unsigned seed, Chances chances, signed char* __restrict__ own, unsigned own_rows, unsigned own_columns,
                                 unsigned own_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= own_rows || column >= own_columns) return;
    const int above = row > 0 ? row - 1 : rows - 1;
    const int below = row + 1 < rows ? row + 1 : 0;
    const int left = column > 0 ? column - 1 : columns - 1;
    const int right = column + 1 < columns ? column + 1 : 0;
    const int beside = row % 2 == shifted ? right : left;
    const signed char spin = own[(size_t)row * own_stride + column];
    int agreeing = 0;
    agreeing += others[(size_t)above * stride + column] == spin;
    agreeing += others[(size_t)below * stride + column] == spin;
    agreeing += others[(size_t)row * stride + column] == spin;
    agreeing += others[(size_t)row * stride + beside] == spin;
    if (random_of(seed, row * columns + column) < chances.c[agreeing]) own[(size_t)row * own_stride + column] = -spin;
}
