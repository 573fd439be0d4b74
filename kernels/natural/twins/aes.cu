// Enciphers each block by AES with a key of 128 bits; table[x] is what the byte x of the first row adds to a column.
extern "C" __global__ void __launch_bounds__(256) aes(const unsigned (*__restrict__ plain)[4], size_t plain_len,
                                                      const unsigned (*__restrict__ keys)[4], size_t keys_len,
                                                      const unsigned* __restrict__ table, size_t table_len,
                                                      unsigned (*__restrict__ enciphered)[4], size_t n) {
    __shared__ unsigned shared[256];
    shared[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned state[4], columns[4];
    for (int j = 0; j < 4; j++) state[j] = plain[i][j] ^ keys[0][j];
    for (int round = 1; round < 10; round++) {
        for (int column = 0; column < 4; column++) {
            unsigned sum = keys[round][column];
            for (int row = 0; row < 4; row++) {
                const unsigned entry = shared[state[(column + row) % 4] >> (8 * row) & 255];
                sum ^= __funnelshift_l(entry, entry, 8 * row);
            }
            columns[column] = sum;
        }
        for (int j = 0; j < 4; j++) state[j] = columns[j];
    }
    for (int column = 0; column < 4; column++) {
        unsigned sum = keys[10][column];
        for (int row = 0; row < 4; row++) {
            sum ^= (shared[state[(column + row) % 4] >> (8 * row) & 255] >> 8 & 255) << (8 * row);
        }
        enciphered[i][column] = sum;
    }
}
