// Encrypts the text in its place by ChaCha20, a thread a block of the stream.
struct Key {
    unsigned words[8];
};

struct Nonce {
    unsigned words[3];
};

static __device__ unsigned rotate(unsigned x, int count) { return x << count | x >> (32 - count); }

static __device__ void quarter_round(unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
    a += b;
    d = rotate(d ^ a, 16);
    c += d;
    b = rotate(b ^ c, 12);
    a += b;
    d = rotate(d ^ a, 8);
    c += d;
    b = rotate(b ^ c, 7);
}

extern "C" __global__ void chacha20(Key key, Nonce nonce, unsigned (*__restrict__ text)[16], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (int j = 0; j < 8; j++) start[4 + j] = key.words[j];
    start[12] = i + 1;
    for (int j = 0; j < 3; j++) start[13 + j] = nonce.words[j];
    unsigned s[16];
    for (int j = 0; j < 16; j++) s[j] = start[j];
    for (int round = 0; round < 10; round++) {
        for (int j = 0; j < 4; j++) quarter_round(s[j], s[4 + j], s[8 + j], s[12 + j]);
        for (int j = 0; j < 4; j++) quarter_round(s[j], s[4 + (j + 1) % 4], s[8 + (j + 2) % 4], s[12 + (j + 3) % 4]);
    }
    for (int j = 0; j < 16; j++) text[i][j] ^= s[j] + start[j];
}
