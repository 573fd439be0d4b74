// The 64 symbols of each line, which begins at the word starts[i], by a table of the next 8 bits.
typedef unsigned long long u64;

extern "C" __global__ void huffman_decode(const unsigned* __restrict__ words, size_t words_len, const unsigned* __restrict__ starts,
                                          size_t starts_len, const uchar2* __restrict__ table, size_t table_len,
                                          unsigned char (*__restrict__ lines)[64], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int at = starts[i];
    u64 bits = 0;
    unsigned count = 0;
    for (int j = 0; j < 64; j++) {
        if (count < 8) {
            bits |= (u64)words[at++] << count;
            count += 32;
        }
        const uchar2 entry = table[bits & 0xff];
        lines[i][j] = entry.x;
        bits >>= entry.y;
        count -= entry.y;
    }
}
