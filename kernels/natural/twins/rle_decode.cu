// The line of 64 bytes of each row of runs: a byte that says how often, and the byte itself.
extern "C" __global__ void rle_decode(const unsigned char* __restrict__ runs, size_t runs_len, const unsigned* __restrict__ starts,
                                      size_t starts_len, unsigned char (*__restrict__ lines)[64], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int at = 0;
    for (int run = starts[i]; run < starts[i + 1]; run += 2) {
        const int count = runs[run];
        const unsigned char byte = runs[run + 1];
        for (int j = 0; j < count; j++) lines[i][at + j] = byte;
        at += count;
    }
}
