// XXH32 of each 64 bytes.
static __device__ unsigned rotate(unsigned x, int count) { return x << count | x >> (32 - count); }

extern "C" __global__ void xxhash(const unsigned* __restrict__ words, size_t words_len, unsigned seed, unsigned* __restrict__ hashes,
                                  size_t n) {
    const unsigned prime1 = 0x9E3779B1, prime2 = 0x85EBCA77, prime3 = 0xC2B2AE3D;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned* message = words + (size_t)i * 16;
    unsigned lanes[4] = {seed + prime1 + prime2, seed + prime2, seed, seed - prime1};
    for (int stripe = 0; stripe < 4; stripe++) {
        for (int lane = 0; lane < 4; lane++) {
            lanes[lane] = rotate(lanes[lane] + message[stripe * 4 + lane] * prime2, 13) * prime1;
        }
    }
    unsigned hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18) + 64;
    hash = (hash ^ hash >> 15) * prime2;
    hash = (hash ^ hash >> 13) * prime3;
    hashes[i] = hash ^ hash >> 16;
}
