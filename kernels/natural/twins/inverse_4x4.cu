// The inverse of each matrix, by elimination.
struct Matrix {
    float m[4][4];
};

extern "C" __global__ void inverse_4x4(const Matrix* __restrict__ matrices, size_t matrices_len, Matrix* __restrict__ inverses, size_t n) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n) return;
    Matrix left = matrices[index];
    Matrix right = {};
    for (int i = 0; i < 4; i++) right.m[i][i] = 1.0f;
    for (int pivot = 0; pivot < 4; pivot++) {
        const float factor = 1.0f / left.m[pivot][pivot];
        for (int j = 0; j < 4; j++) {
            left.m[pivot][j] *= factor;
            right.m[pivot][j] *= factor;
        }
        for (int i = 0; i < 4; i++) {
            if (i != pivot) {
                const float factor = left.m[i][pivot];
                for (int j = 0; j < 4; j++) {
                    left.m[i][j] -= factor * left.m[pivot][j];
                    right.m[i][j] -= factor * right.m[pivot][j];
                }
            }
        }
    }
    inverses[index] = right;
}
