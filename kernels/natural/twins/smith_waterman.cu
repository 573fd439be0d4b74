// The best score of query i in target i. A thread has a letter of the query, and walks through the target one step behind the thread
// before it; the last three diagonals are in shared memory.
extern "C" __global__ void __launch_bounds__(128) smith_waterman(const unsigned char* __restrict__ queries, size_t queries_len,
                                                                 const unsigned char* __restrict__ targets, size_t targets_len,
                                                                 size_t target_length, int* scores, size_t pairs) {
    __shared__ int diagonals[3][129];
    const int t = threadIdx.x;
    const unsigned char letter = queries[blockIdx.x * 128 + t];
    const unsigned char* target = targets + blockIdx.x * target_length;
    const int length = target_length;
    for (int i = 0; i < 3; i++) {
        diagonals[i][t + 1] = 0;
        if (t == 0) diagonals[i][0] = 0;
    }
    __syncthreads();
    int best = 0;
    for (int d = 0; d < length + 127; d++) {
        int score = 0;
        if (d >= t && d - t < length) {
            const int* before = diagonals[(d + 2) % 3];
            const int* two_before = diagonals[(d + 1) % 3];
            const int same = target[d - t] == letter ? 3 : -2;
            score = max(max(two_before[t] + same, before[t] - 4), max(before[t + 1] - 4, 0));
            best = max(best, score);
        }
        diagonals[d % 3][t + 1] = score;
        __syncthreads();
    }
    atomicMax(&scores[blockIdx.x], best);
}
