// 1 for each odd number above 7 that passes the test of Miller and Rabin to the bases 2, 3, 5 and 7, with Montgomery's multiplication.
typedef unsigned long long u64;
typedef unsigned __int128 u128;

struct Montgomery {
    u64 modulus, inverse, square;

    __device__ explicit Montgomery(u64 n) : modulus(n), inverse(n) {
        for (int i = 0; i < 5; i++) inverse *= 2 - n * inverse;
        square = (u64)(-(u128)n % n);
    }

    __device__ u64 reduce(u128 x) const {
        const u64 factor = (u64)x * inverse;
        const u64 carried = (u64)((u128)factor * modulus >> 64);
        const u64 high = (u64)(x >> 64);
        return high >= carried ? high - carried : high - carried + modulus;
    }

    __device__ u64 multiply(u64 a, u64 b) const { return reduce((u128)a * b); }

    __device__ u64 enter(u64 x) const { return multiply(x, square); }

    __device__ u64 power(u64 base, u64 exponent) const {
        u64 result = enter(1);
        while (exponent > 0) {
            if (exponent & 1) result = multiply(result, base);
            base = multiply(base, base);
            exponent >>= 1;
        }
        return result;
    }
};

static __device__ bool passes(const Montgomery& field, u64 base) {
    const u64 one = field.enter(1);
    const u64 minus_one = field.modulus - one;
    const int twos = __ffsll(field.modulus - 1) - 1;
    u64 x = field.power(field.enter(base), (field.modulus - 1) >> twos);
    if (x == one || x == minus_one) return true;
    for (int i = 1; i < twos; i++) {
        x = field.multiply(x, x);
        if (x == minus_one) return true;
    }
    return false;
}

extern "C" __global__ void miller_rabin(const u64* __restrict__ numbers, size_t numbers_len, unsigned char* __restrict__ primes, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const u64 bases[4] = {2, 3, 5, 7};
    const Montgomery field(numbers[i]);
    bool is_prime = true;
    for (int b = 0; b < 4 && is_prime; b++) is_prime = passes(field, bases[b]);
    primes[i] = is_prime;
}
