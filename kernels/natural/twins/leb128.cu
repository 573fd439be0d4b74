// The largest number of each list of packed differences: the bytes from starts[i] to starts[i + 1]; the least number where there is none.
typedef long long i64;
typedef unsigned long long u64;

#define WRONG ((i64)0x8000000000000000ull)

static __device__ i64 largest_of(const unsigned char* bytes, int at, int end) {
    i64 number = 0, largest = WRONG;
    while (at < end) {
        u64 code = 0;
        bool is_whole = false;
        for (int shift = 0; shift < 70 && at < end; shift += 7) {
            const unsigned char byte = bytes[at++];
            code |= (u64)(byte & 0x7f) << shift;
            if (!(byte & 0x80)) {
                is_whole = true;
                break;
            }
        }
        if (!is_whole) return WRONG;
        number += (i64)(code >> 1) ^ -(i64)(code & 1);
        largest = max(largest, number);
    }
    return largest;
}

extern "C" __global__ void leb128(const unsigned char* __restrict__ bytes, size_t bytes_len, const unsigned* __restrict__ starts,
                                  size_t starts_len, i64* __restrict__ largest, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    largest[i] = largest_of(bytes, starts[i], starts[i + 1]);
}
