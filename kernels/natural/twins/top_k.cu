// The eight largest elements of each column, the largest one first.
extern "C" __global__ void top_k(const float* __restrict__ x, unsigned rows, unsigned columns, unsigned stride,
                                 float (*__restrict__ largest)[8], size_t n) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float top[8];
    for (int j = 0; j < 8; j++) top[j] = -INFINITY;
    for (int row = 0; row < rows; row++) {
        float value = x[(size_t)row * stride + column];
        if (value <= top[7]) continue;
        for (int j = 0; j < 8; j++) {
            if (value > top[j]) {
                const float other = top[j];
                top[j] = value;
                value = other;
            }
        }
    }
    for (int j = 0; j < 8; j++) largest[column][j] = top[j];
}
