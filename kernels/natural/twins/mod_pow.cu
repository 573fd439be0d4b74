// out = each base to the power of exponent, modulo modulus, which is below 2^32.
typedef unsigned long long u64;

static __device__ u64 power(u64 base, u64 exponent, u64 modulus) {
    base %= modulus;
    u64 result = 1;
    while (exponent > 0) {
        if (exponent & 1) result = result * base % modulus;
        base = base * base % modulus;
        exponent >>= 1;
    }
    return result;
}

extern "C" __global__ void mod_pow(const u64* __restrict__ bases, size_t bases_len, u64 exponent, u64 modulus, u64* __restrict__ out,
                                   size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = power(bases[i], exponent, modulus);
}
