// BLAKE2s of each message: the bytes from starts[i] to starts[i + 1], a thread a message.
__constant__ unsigned start_words[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

__constant__ unsigned char sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static __device__ unsigned rotate(unsigned x, int count) { return x >> count | x << (32 - count); }

static __device__ void mix(unsigned* v, int a, int b, int c, int d, unsigned x, unsigned y) {
    v[a] = v[a] + v[b] + x;
    v[d] = rotate(v[d] ^ v[a], 16);
    v[c] = v[c] + v[d];
    v[b] = rotate(v[b] ^ v[c], 12);
    v[a] = v[a] + v[b] + y;
    v[d] = rotate(v[d] ^ v[a], 8);
    v[c] = v[c] + v[d];
    v[b] = rotate(v[b] ^ v[c], 7);
}

static __device__ void compress(unsigned* hash, const unsigned char* block, unsigned long long length, bool is_last) {
    unsigned m[16], v[16];
    for (int i = 0; i < 16; i++) {
        m[i] = block[4 * i] | block[4 * i + 1] << 8 | block[4 * i + 2] << 16 | (unsigned)block[4 * i + 3] << 24;
    }
    for (int i = 0; i < 8; i++) {
        v[i] = hash[i];
        v[i + 8] = start_words[i];
    }
    v[12] ^= (unsigned)length;
    v[13] ^= (unsigned)(length >> 32);
    if (is_last) v[14] = ~v[14];
    for (int round = 0; round < 10; round++) {
        const unsigned char* s = sigma[round];
        mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
        mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
        mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
        mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
        mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
        mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
        mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
        mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (int i = 0; i < 8; i++) hash[i] ^= v[i] ^ v[i + 8];
}

extern "C" __global__ void blake2s(const unsigned char* __restrict__ bytes, size_t bytes_len, const unsigned* __restrict__ starts,
                                   size_t starts_len, unsigned (*__restrict__ digests)[8], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* message = bytes + starts[i];
    const int length = starts[i + 1] - starts[i];
    unsigned hash[8];
    for (int j = 0; j < 8; j++) hash[j] = start_words[j];
    hash[0] ^= 0x01010020;
    int at = 0;
    for (; at + 64 < length; at += 64) compress(hash, message + at, at + 64, false);
    unsigned char last[64] = {0};
    for (int j = 0; at + j < length; j++) last[j] = message[at + j];
    compress(hash, last, length, true);
    for (int j = 0; j < 8; j++) digests[i][j] = hash[j];
}
