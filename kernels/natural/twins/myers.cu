// The least distance of each pattern of 48 letters from any part of the text, by bits (Myers).
typedef unsigned long long u64;

extern "C" __global__ void myers(const unsigned char* __restrict__ text, size_t length, const unsigned char (*__restrict__ patterns)[48],
                                 size_t patterns_len, unsigned* __restrict__ distances, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 places[4] = {};
    for (int j = 0; j < 48; j++) places[patterns[i][j]] |= 1ull << j;
    const u64 last = 1ull << 47;
    u64 plus = ~0ull, minus = 0;
    unsigned score = 48, least = 48;
    for (int at = 0; at < length; at++) {
        const u64 equal = places[text[at]];
        const u64 vertical = equal | minus;
        const u64 horizontal = (((equal & plus) + plus) ^ plus) | equal;
        u64 up = minus | ~(horizontal | plus);
        u64 down = plus & horizontal;
        if (up & last) score++;
        if (down & last) score--;
        up <<= 1;
        down <<= 1;
        plus = down | ~(vertical | up);
        minus = up & vertical;
        least = min(least, score);
    }
    distances[i] = least;
}
