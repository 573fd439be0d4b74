// The length of the longest common subsequence of each pair of words of at most 32 letters: those from starts[i] to starts[i + 1].
extern "C" __global__ void lcs(const unsigned char* __restrict__ first, size_t first_len, const unsigned* __restrict__ first_starts,
                               size_t first_starts_len, const unsigned char* __restrict__ second, size_t second_len,
                               const unsigned* __restrict__ second_starts, size_t second_starts_len, unsigned* __restrict__ lengths,
                               size_t n) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= n) return;
    const unsigned char* a = first + first_starts[pair];
    const unsigned char* b = second + second_starts[pair];
    const int a_len = first_starts[pair + 1] - first_starts[pair];
    const int b_len = second_starts[pair + 1] - second_starts[pair];
    unsigned row[32] = {0};
    for (int i = 0; i < a_len; i++) {
        unsigned diagonal = 0, left = 0;
        for (int j = 0; j < b_len; j++) {
            const unsigned above = row[j];
            row[j] = a[i] == b[j] ? diagonal + 1 : max(left, above);
            diagonal = above;
            left = row[j];
        }
    }
    lengths[pair] = b_len > 0 ? row[b_len - 1] : 0;
}
