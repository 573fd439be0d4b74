// The syndromes of each word of 63 bytes: its value at the powers of 2 from the first on, in the field of 256 elements.
static __device__ unsigned char doubled(unsigned char x) { return x << 1 ^ (x & 0x80 ? 0x1d : 0); }

static __device__ unsigned char multiply(unsigned char left, unsigned char right) {
    unsigned char product = 0;
    while (right > 0) {
        if (right % 2 == 1) product ^= left;
        left = doubled(left);
        right /= 2;
    }
    return product;
}

extern "C" __global__ void reed_solomon(const unsigned char (*__restrict__ words)[63], size_t words_len,
                                        unsigned char (*__restrict__ syndromes)[8], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char root = 1;
    for (int j = 0; j < 8; j++) {
        root = doubled(root);
        unsigned char value = 0;
        for (int k = 0; k < 63; k++) value = multiply(value, root) ^ words[i][k];
        syndromes[i][j] = value;
    }
}
