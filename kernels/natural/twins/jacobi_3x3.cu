// The eigenvalues of each symmetric matrix, the least one first, by rotations.
static __device__ void rotate(double a[3][3], int p, int q) {
    const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    const double tangent = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
    const double cosine = 1.0 / sqrt(tangent * tangent + 1.0);
    const double sine = tangent * cosine;
    for (int k = 0; k < 3; k++) {
        const double x = a[k][p], y = a[k][q];
        a[k][p] = cosine * x - sine * y;
        a[k][q] = sine * x + cosine * y;
    }
    for (int k = 0; k < 3; k++) {
        const double x = a[p][k], y = a[q][k];
        a[p][k] = cosine * x - sine * y;
        a[q][k] = sine * x + cosine * y;
    }
}

extern "C" __global__ void jacobi_3x3(const double (*__restrict__ matrices)[3][3], size_t matrices_len,
                                      double (*__restrict__ eigenvalues)[3], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double a[3][3];
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) a[j][k] = matrices[i][j][k];
    }
    for (int sweep = 0; sweep < 10; sweep++) {
        const double off = a[0][1] * a[0][1] + a[0][2] * a[0][2] + a[1][2] * a[1][2];
        if (off < 1e-24) break;
        for (int p = 0; p < 2; p++) {
            for (int q = p + 1; q < 3; q++) {
                if (a[p][q] != 0.0) rotate(a, p, q);
            }
        }
    }
    const double low = fmin(a[0][0], a[1][1]), high = fmax(a[0][0], a[1][1]), other = a[2][2];
    eigenvalues[i][0] = fmin(low, other);
    eigenvalues[i][1] = fmax(low, fmin(high, other));
    eigenvalues[i][2] = fmax(high, other);
}
