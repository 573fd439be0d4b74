// The likeliest of six states at each of the 64 steps of a sequence; changes[from][to] and symbols[state][symbol] weigh what may happen.
extern "C" __global__ void viterbi(const unsigned char (*__restrict__ sequences)[64], size_t sequences_len,
                                   const int (*__restrict__ changes)[6], size_t changes_len, const int (*__restrict__ symbols)[10],
                                   size_t symbols_len, unsigned char (*__restrict__ states)[64], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int weights[6] = {};
    unsigned char before[64][6];
    for (int step = 0; step < 64; step++) {
        const int symbol = sequences[i][step];
        int next[6];
        for (int state = 0; state < 6; state++) {
            int best = weights[0] + changes[0][state], place = 0;
            for (int from = 1; from < 6; from++) {
                const int weight = weights[from] + changes[from][state];
                if (weight >= best) {
                    best = weight;
                    place = from;
                }
            }
            before[step][state] = place;
            next[state] = best + symbols[state][symbol];
        }
        for (int state = 0; state < 6; state++) weights[state] = next[state];
    }
    int state = 0, best = weights[0];
    for (int other = 1; other < 6; other++) {
        if (weights[other] >= best) {
            best = weights[other];
            state = other;
        }
    }
    for (int step = 63; step >= 0; step--) {
        states[i][step] = state;
        state = before[step][state];
    }
}
