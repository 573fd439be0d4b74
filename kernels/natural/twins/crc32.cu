// The CRC-32 of each message of length bytes; table has what each byte changes.
extern "C" __global__ void crc32(const unsigned char* __restrict__ text, size_t text_len, size_t length,
                                 const unsigned* __restrict__ table, size_t table_len, unsigned* __restrict__ sums, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* message = text + i * length;
    unsigned crc = 0xffffffff;
    for (int j = 0; j < length; j++) crc = table[(crc ^ message[j]) & 0xff] ^ (crc >> 8);
    sums[i] = ~crc;
}
