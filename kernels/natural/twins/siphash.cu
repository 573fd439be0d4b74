// SipHash-2-4 of each message: the bytes from starts[i] to starts[i + 1].
typedef unsigned long long u64;

struct Key {
    u64 k0, k1;
};

struct State {
    u64 v0, v1, v2, v3;
};

static __device__ u64 rotate(u64 x, int count) { return x << count | x >> (64 - count); }

static __device__ void mix(State& s) {
    s.v0 += s.v1;
    s.v2 += s.v3;
    s.v1 = rotate(s.v1, 13) ^ s.v0;
    s.v3 = rotate(s.v3, 16) ^ s.v2;
    s.v0 = rotate(s.v0, 32);
    s.v2 += s.v1;
    s.v0 += s.v3;
    s.v1 = rotate(s.v1, 17) ^ s.v2;
    s.v3 = rotate(s.v3, 21) ^ s.v0;
    s.v2 = rotate(s.v2, 32);
}

static __device__ void absorb(State& s, u64 word) {
    s.v3 ^= word;
    mix(s);
    mix(s);
    s.v0 ^= word;
}

extern "C" __global__ void siphash(const unsigned char* __restrict__ bytes, size_t bytes_len, const unsigned* __restrict__ starts,
                                   size_t starts_len, Key key, u64* __restrict__ hashes, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* message = bytes + starts[i];
    const int length = starts[i + 1] - starts[i];
    State s = {key.k0 ^ 0x736f6d6570736575ull, key.k1 ^ 0x646f72616e646f6dull, key.k0 ^ 0x6c7967656e657261ull,
               key.k1 ^ 0x7465646279746573ull};
    for (int at = 0; at + 8 <= length; at += 8) {
        u64 word = 0;
        for (int j = 0; j < 8; j++) word |= (u64)message[at + j] << (8 * j);
        absorb(s, word);
    }
    u64 last = (u64)length << 56;
    for (int j = 0; j < length % 8; j++) last |= (u64)message[length / 8 * 8 + j] << (8 * j);
    absorb(s, last);
    s.v2 ^= 0xff;
    for (int j = 0; j < 4; j++) mix(s);
    hashes[i] = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
