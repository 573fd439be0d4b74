// The digest of each message of 32 bytes, both as words in the order of SHA-256, a thread a message.
__constant__ unsigned round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

struct Digest {
    unsigned words[8];
};

static __device__ unsigned rotate(unsigned x, int count) { return x >> count | x << (32 - count); }

extern "C" __global__ void sha256(const Digest* __restrict__ messages, size_t messages_len, Digest* __restrict__ digests, size_t n) {
    const unsigned start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n) return;
    unsigned w[64] = {0};
    for (int i = 0; i < 8; i++) w[i] = messages[index].words[i];
    w[8] = 0x80000000;
    w[15] = 256;
    for (int i = 16; i < 64; i++) {
        const unsigned s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        const unsigned s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    unsigned a = start[0], b = start[1], c = start[2], d = start[3], e = start[4], f = start[5], g = start[6], h = start[7];
    for (int i = 0; i < 64; i++) {
        const unsigned s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        const unsigned t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
        const unsigned s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        const unsigned t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const unsigned end[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) digests[index].words[i] = start[i] + end[i];
}
