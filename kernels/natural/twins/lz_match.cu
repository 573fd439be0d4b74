// How long the longest copy of what begins at each byte is, and how far back it begins: at most 48 bytes back, at most 64 bytes long.
extern "C" __global__ void lz_match(const unsigned char* __restrict__ data, size_t size, ushort2* __restrict__ copies, size_t n) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    const int end = size;
    int longest = 0, place = 0;
    const int window = min(48, at);
    for (int distance = 1; distance <= window; distance++) {
        int length = 0;
        while (length < 64 && at + length < end && data[at + length] == data[at - distance + length]) length++;
        if (length > longest || place == 0) {
            longest = length;
            place = distance;
        }
    }
    copies[at] = make_ushort2(longest, place);
}
