// Takes each matrix apart into a turn and a triangle, by rotations (Givens), a thread a matrix: the turn times the matrix is the triangle.
struct Factors {
    float turn[4][4];
    float triangle[4][4];
};

static __device__ void rotate(float* above, float* below, float cosine, float sine) {
    for (int j = 0; j < 4; j++) {
        const float a = above[j], b = below[j];
        above[j] = cosine * a + sine * b;
        below[j] = cosine * b - sine * a;
    }
}

extern "C" __global__ void givens_qr(const float (*__restrict__ matrices)[4][4], size_t matrices_len, Factors* __restrict__ factors,
                                     size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Factors own;
    for (int row = 0; row < 4; row++) {
        for (int column = 0; column < 4; column++) {
            own.turn[row][column] = row == column ? 1.0f : 0.0f;
            own.triangle[row][column] = matrices[i][row][column];
        }
    }
    for (int column = 0; column < 3; column++) {
        for (int row = 3; row > column; row--) {
            const float upper = own.triangle[row - 1][column], lower = own.triangle[row][column];
            if (lower == 0.0f) continue;
            const float length = sqrtf(upper * upper + lower * lower);
            const float cosine = upper / length, sine = lower / length;
            rotate(own.triangle[row - 1], own.triangle[row], cosine, sine);
            rotate(own.turn[row - 1], own.turn[row], cosine, sine);
            own.triangle[row][column] = 0.0f;
        }
    }
    factors[i] = own;
}
