// Solves each system of 6 unknowns by elimination with pivots, a thread a system; one that has no solution gives zeros.
extern "C" __global__ void lu_6x6(const float (*__restrict__ matrices)[6][6], size_t matrices_len, const float (*__restrict__ rights)[6],
                                  size_t rights_len, float (*__restrict__ solutions)[6], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a[6][6], b[6], x[6];
    for (int row = 0; row < 6; row++) {
        for (int column = 0; column < 6; column++) a[row][column] = matrices[i][row][column];
        b[row] = rights[i][row];
    }
    for (int k = 0; k < 6; k++) {
        int pivot = k;
        for (int row = k + 1; row < 6; row++) {
            if (fabsf(a[row][k]) > fabsf(a[pivot][k])) pivot = row;
        }
        if (a[pivot][k] == 0.0f) {
            for (int j = 0; j < 6; j++) solutions[i][j] = 0.0f;
            return;
        }
        for (int column = 0; column < 6; column++) {
            const float other = a[pivot][column];
            a[pivot][column] = a[k][column];
            a[k][column] = other;
        }
        const float other = b[pivot];
        b[pivot] = b[k];
        b[k] = other;
        for (int row = k + 1; row < 6; row++) {
            const float factor = a[row][k] / a[k][k];
            for (int column = k; column < 6; column++) a[row][column] -= factor * a[k][column];
            b[row] -= factor * b[k];
        }
    }
    for (int k = 5; k >= 0; k--) {
        float known = 0.0f;
        for (int j = k + 1; j < 6; j++) known += a[k][j] * x[j];
        x[k] = (b[k] - known) / a[k][k];
    }
    for (int j = 0; j < 6; j++) solutions[i][j] = x[j];
}
