// Whether each key may be in the set whose bits the Bloom filter has: 1, or 0.
typedef unsigned long long u64;

extern "C" __global__ void bloom_query(const unsigned* __restrict__ filter, size_t words, const u64* __restrict__ keys, size_t keys_len,
                                       unsigned char* __restrict__ found, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned count = words;
    const u64 key = keys[i];
    bool has_all = true;
    for (int number = 0; number < 5 && has_all; number++) {
        u64 hash = key ^ (u64)number << 56;
        hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdull;
        hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53ull;
        hash ^= hash >> 33;
        const unsigned word = (unsigned)(hash >> 32) % count;
        has_all = filter[word] >> (hash & 31) & 1;
    }
    found[i] = has_all;
}
