// The inverse of each matrix, by cofactors.
struct Matrix {
    float m[3][3];
};

extern "C" __global__ void inverse_3x3(const Matrix* __restrict__ matrices, size_t matrices_len, Matrix* __restrict__ inverses, size_t n) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n) return;
    const Matrix a = matrices[index];
    Matrix inverse;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int r0 = (j + 1) % 3, r1 = (j + 2) % 3, c0 = (i + 1) % 3, c1 = (i + 2) % 3;
            inverse.m[i][j] = a.m[r0][c0] * a.m[r1][c1] - a.m[r0][c1] * a.m[r1][c0];
        }
    }
    const float determinant = a.m[0][0] * inverse.m[0][0] + a.m[0][1] * inverse.m[1][0] + a.m[0][2] * inverse.m[2][0];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) inverse.m[i][j] /= determinant;
    }
    inverses[index] = inverse;
}
