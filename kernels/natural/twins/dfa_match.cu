// How many words of a set end in each line (the bytes from starts[i] to starts[i + 1]), by an automaton.
struct State {
    unsigned short next[27], words;
};

static __device__ int kind(unsigned char c) {
    if (c >= 'a' && c <= 'z') return c - 'a' + 1;
    if (c >= 'A' && c <= 'Z') return c - 'A' + 1;
    return 0;
}

extern "C" __global__ void dfa_match(const unsigned char* __restrict__ text, size_t text_len, const unsigned* __restrict__ starts,
                                     size_t starts_len, const State* __restrict__ states, size_t states_len,
                                     unsigned* __restrict__ counts, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int state = 0;
    unsigned found = 0;
    const int end = starts[i + 1];
    for (int at = starts[i]; at < end; at++) {
        state = states[state].next[kind(text[at])];
        found += states[state].words;
    }
    counts[i] = found;
}
