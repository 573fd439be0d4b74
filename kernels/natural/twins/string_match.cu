// Adds to count how often the word begins somewhere in the text.
extern "C" __global__ void string_match(const char* __restrict__ text, size_t text_length, const char* __restrict__ word,
                                        size_t word_length, unsigned* count, size_t count_len) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + word_length > text_length) return;
    for (int j = 0; j < word_length; j++) {
        if (text[i + j] != word[j]) return;
    }
    atomicAdd(count, 1);
}
