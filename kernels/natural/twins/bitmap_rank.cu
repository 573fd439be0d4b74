// The set bits before each place; before[b] is how many there are before block b of eight words.
extern "C" __global__ void bitmap_rank(const unsigned long long* __restrict__ words, size_t words_len, const unsigned* __restrict__ before,
                                       size_t before_len, const unsigned* __restrict__ places, size_t places_len,
                                       unsigned* __restrict__ ranks, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned place = places[i];
    const unsigned block = place / 512, word = place / 64, bit = place % 64;
    unsigned rank = before[block];
    for (int j = block * 8; j < word; j++) rank += __popcll(words[j]);
    ranks[i] = rank + __popcll(words[word] & ((1ull << bit) - 1));
}
