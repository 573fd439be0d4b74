// How many letters each line of 64 bytes has; 0xffffffff where a line is not UTF-8, overlong letters aside.
extern "C" __global__ void utf8_count(const unsigned char* __restrict__ text, size_t text_len, unsigned* __restrict__ counts, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int start = i * 64, end = min((size_t)start + 64, text_len);
    int more = 0; // bytes to come; -1: wrong
    unsigned count = 0;
    for (int j = start; j < end; j++) {
        const unsigned char byte = text[j];
        if (more == 0) {
            if (byte <= 0x7f) more = 0;
            else if (byte >= 0xc2 && byte <= 0xdf) more = 1;
            else if (byte >= 0xe0 && byte <= 0xef) more = 2;
            else if (byte >= 0xf0 && byte <= 0xf4) more = 3;
            else more = -1;
        } else if (more > 0 && byte >= 0x80 && byte <= 0xbf) {
            more--;
        } else {
            more = -1;
        }
        if (more == 0) count++;
    }
    counts[i] = more == 0 ? count : 0xffffffff;
}
