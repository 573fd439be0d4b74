// A step of a flow by the lattice Boltzmann method with nine directions; the parts of a direction lie one after another.
extern "C" __global__ void lattice_boltzmann(const float* __restrict__ from, size_t from_len, unsigned width, unsigned height, float omega,
                                             float* __restrict__ to, size_t to_len) {
    const int dxs[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
    const int dys[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float weights[9] = {4.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int cells = width * height;
    float parts[9];
    float density = 0.0f, ux = 0.0f, uy = 0.0f;
    for (int q = 0; q < 9; q++) {
        const int column = (x + width - dxs[q]) % width;
        const int row = (y + height - dys[q]) % height;
        parts[q] = from[q * cells + row * width + column];
        density += parts[q];
        ux += dxs[q] * parts[q];
        uy += dys[q] * parts[q];
    }
    ux /= density;
    uy /= density;
    const float square = 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < 9; q++) {
        const float along = 3.0f * (dxs[q] * ux + dys[q] * uy);
        const float rest = weights[q] * density * (1.0f + along + 0.5f * along * along - square);
        to[q * cells + y * width + x] = parts[q] + omega * (rest - parts[q]);
    }
}
