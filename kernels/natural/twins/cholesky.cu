// The lower triangular factor of each symmetric matrix of six rows.
struct Matrix {
    float m[6][6];
};

extern "C" __global__ void cholesky(const Matrix* __restrict__ matrices, size_t matrices_len, Matrix* __restrict__ factors, size_t n) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n) return;
    const Matrix a = matrices[index];
    Matrix l = {};
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) {
            float sum = 0.0f;
            for (int k = 0; k < j; k++) sum += l.m[i][k] * l.m[j][k];
            l.m[i][j] = i == j ? sqrtf(a.m[i][i] - sum) : (a.m[i][j] - sum) / l.m[j][j];
        }
    }
    factors[index] = l;
}
