// Bytes of each line of UTF-16 as UTF-8: the words from starts[i] to starts[i + 1]; half a pair becomes U+FFFD.
extern "C" __global__ void utf16_length(const unsigned short* __restrict__ text, size_t text_len, const unsigned* __restrict__ starts,
                                        size_t starts_len, unsigned* __restrict__ lengths, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int end = starts[i + 1];
    unsigned bytes = 0;
    for (int at = starts[i]; at < end; at++) {
        const unsigned short word = text[at];
        if (word < 0x80) {
            bytes += 1;
        } else if (word < 0x800) {
            bytes += 2;
        } else if (word >= 0xd800 && word < 0xdc00 && at + 1 < end && text[at + 1] >= 0xdc00 && text[at + 1] < 0xe000) {
            bytes += 4;
            at++;
        } else {
            bytes += 3;
        }
    }
    lengths[i] = bytes;
}
