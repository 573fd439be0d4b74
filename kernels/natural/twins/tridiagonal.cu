// Solves each tridiagonal system of 16 unknowns, by Thomas's algorithm.
extern "C" __global__ void tridiagonal(const float (*__restrict__ lower)[16], size_t lower_len, const float (*__restrict__ diagonal)[16],
                                       size_t diagonal_len, const float (*__restrict__ upper)[16], size_t upper_len,
                                       const float (*__restrict__ right)[16], size_t right_len, float (*__restrict__ solutions)[16],
                                       size_t n) {
    const int system = blockIdx.x * blockDim.x + threadIdx.x;
    if (system >= n) return;
    float factors[16], x[16];
    factors[0] = upper[system][0] / diagonal[system][0];
    x[0] = right[system][0] / diagonal[system][0];
    for (int i = 1; i < 16; i++) {
        const float pivot = diagonal[system][i] - lower[system][i] * factors[i - 1];
        factors[i] = upper[system][i] / pivot;
        x[i] = (right[system][i] - lower[system][i] * x[i - 1]) / pivot;
    }
    for (int i = 14; i >= 0; i--) x[i] -= factors[i] * x[i + 1];
    for (int i = 0; i < 16; i++) solutions[system][i] = x[i];
}
