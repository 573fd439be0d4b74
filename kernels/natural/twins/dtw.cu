// The distance of each signal of 48 samples from the pattern when time may stretch, by at most 8 samples.
extern "C" __global__ void dtw(const float (*__restrict__ signals)[48], size_t signals_len, const float* __restrict__ pattern,
                               float* __restrict__ distances, size_t n) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= n) return;
    float rows[2][49];
    for (int j = 0; j <= 48; j++) rows[0][j] = INFINITY;
    rows[0][0] = 0.0f;
    for (int i = 0; i < 48; i++) {
        const float a = signals[pair][i];
        const float* above = rows[i % 2];
        float* row = rows[(i + 1) % 2];
        for (int j = 0; j <= 48; j++) row[j] = INFINITY;
        const int to = min(i + 9, 48);
        for (int j = max(i - 8, 0); j < to; j++) {
            const float difference = a - pattern[j];
            const float least = fminf(fminf(above[j], above[j + 1]), row[j]);
            row[j + 1] = difference * difference + least;
        }
    }
    distances[pair] = rows[0][48];
}
