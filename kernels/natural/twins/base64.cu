// out = each three bytes as four letters.
__constant__ char alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

extern "C" __global__ void base64(const unsigned char (*__restrict__ bytes)[3], size_t bytes_len, unsigned char (*__restrict__ out)[4],
                                  size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned word = 0;
    for (int j = 0; j < 3; j++) word = word << 8 | bytes[i][j];
    for (int j = 0; j < 4; j++) out[i][j] = alphabet[word >> (18 - 6 * j) & 63];
}
