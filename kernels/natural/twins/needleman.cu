// The best alignment of each pair of words of 24 letters: its score, equal letters, letters of the first word alone, and gaps.
enum Step : unsigned char { BOTH, FIRST, SECOND };

extern "C" __global__ void needleman(const unsigned char (*__restrict__ first)[24], size_t first_len,
                                     const unsigned char (*__restrict__ second)[24], size_t second_len, int (*__restrict__ alignments)[4],
                                     size_t n) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= n) return;
    Step steps[25][25];
    int scores[25];
    for (int j = 0; j <= 24; j++) {
        scores[j] = -2 * j;
        steps[0][j] = SECOND;
    }
    for (int i = 0; i < 24; i++) {
        const unsigned char a = first[pair][i];
        int diagonal = scores[0];
        scores[0] -= 2;
        steps[i + 1][0] = FIRST;
        for (int j = 0; j < 24; j++) {
            int best = diagonal + (a == second[pair][j] ? 2 : -1);
            Step step = BOTH;
            diagonal = scores[j + 1];
            if (scores[j + 1] - 2 > best) {
                best = scores[j + 1] - 2;
                step = FIRST;
            }
            if (scores[j] - 2 > best) {
                best = scores[j] - 2;
                step = SECOND;
            }
            scores[j + 1] = best;
            steps[i + 1][j + 1] = step;
        }
    }
    int equal = 0, alone = 0, gaps = 0;
    Step last = BOTH;
    for (int i = 24, j = 24; i != 0 || j != 0;) {
        const Step step = steps[i][j];
        if (step == BOTH) {
            i--;
            j--;
            if (first[pair][i] == second[pair][j]) equal++;
        } else if (step == FIRST) {
            i--;
            alone++;
        } else {
            j--;
        }
        if (step != BOTH && step != last) gaps++;
        last = step;
    }
    alignments[pair][0] = scores[24];
    alignments[pair][1] = equal;
    alignments[pair][2] = alone;
    alignments[pair][3] = gaps;
}
