// y = the matrix of blocks of 32 numbers of 4 bits times x, a warp a row.
struct Block {
    float scale;
    unsigned char pairs[16];
};

extern "C" __global__ void gemv_int4(const Block* __restrict__ blocks, size_t blocks_len, const float* __restrict__ x, size_t x_len,
                                     float* __restrict__ y, size_t rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int per_row = x_len / 32;
    float sum = 0.0f;
    for (int i = lane; i < per_row; i += 32) {
        const Block& block = blocks[(size_t)row * per_row + i];
        float part = 0.0f;
        for (int j = 0; j < 16; j++) {
            const int low = (block.pairs[j] & 15) - 8, high = (block.pairs[j] >> 4) - 8;
            part += low * x[i * 32 + 2 * j] + high * x[i * 32 + 2 * j + 1];
        }
        sum += part * block.scale;
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (lane == 0) y[row] = sum;
}
