// The first four elements of each state of eight after all rounds, in the field of 2^64 - 2^32 + 1 elements.
typedef unsigned long long u64;

static __constant__ u64 MIX[8] = {7, 1, 3, 8, 8, 3, 4, 9};
#define PRIME 0xffffffff00000001ull
#define EPSILON 0xffffffffull

static __device__ u64 reduce(unsigned __int128 x) {
    const u64 low = (u64)x, high = (u64)(x >> 64);
    const u64 top = high >> 32;
    u64 difference = low - top;
    if (low < top) difference -= EPSILON;
    u64 sum = difference + (high & EPSILON) * EPSILON;
    if (sum < difference) sum += EPSILON;
    return sum;
}

static __device__ u64 add(u64 a, u64 b) { return reduce((unsigned __int128)a + b); }
static __device__ u64 mul(u64 a, u64 b) { return reduce((unsigned __int128)a * b); }

static __device__ u64 seventh_power(u64 x) {
    const u64 square = mul(x, x);
    const u64 cube = mul(square, x);
    return mul(mul(square, square), cube);
}

extern "C" __global__ void goldilocks(const u64 (*__restrict__ states)[8], size_t states_len, const u64 (*__restrict__ rounds)[8],
                                      size_t rounds_len, u64 (*__restrict__ hashes)[4], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 state[8], powers[8];
    for (int j = 0; j < 8; j++) state[j] = states[i][j];
    for (int round = 0; round < (int)rounds_len; round++) {
        for (int j = 0; j < 8; j++) powers[j] = seventh_power(add(state[j], rounds[round][j]));
        for (int row = 0; row < 8; row++) {
            unsigned __int128 sum = 0;
            for (int j = 0; j < 8; j++) sum += (unsigned __int128)powers[j] * MIX[(j + 8 - row) % 8];
            state[row] = reduce(sum);
        }
    }
    for (int j = 0; j < 4; j++) hashes[i][j] = state[j] >= PRIME ? state[j] - PRIME : state[j];
}
