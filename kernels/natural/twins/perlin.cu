// Perlin's noise at each pixel, from layers that are each twice as fine as the one before; table has the numbers up to 255, shuffled.
__device__ float fade(float t) { return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f); }

__device__ float mix(float a, float b, float t) { return a + t * (b - a); }

__device__ float gradient(unsigned char hash, float x, float y) {
    switch (hash & 3) {
        case 0: return x + y;
        case 1: return -x + y;
        case 2: return x - y;
        default: return -x - y;
    }
}

__device__ unsigned char hash(const unsigned char* __restrict__ table, int i, int j) { return table[(table[i & 255] + j) & 255]; }

__device__ float noise(const unsigned char* __restrict__ table, float x, float y) {
    const float left = floorf(x), top = floorf(y);
    const int i = (int)left & 255, j = (int)top & 255;
    x -= left;
    y -= top;
    const float u = fade(x), v = fade(y);
    return mix(mix(gradient(hash(table, i, j), x, y), gradient(hash(table, i + 1, j), x - 1.0f, y), u),
               mix(gradient(hash(table, i, j + 1), x, y - 1.0f), gradient(hash(table, i + 1, j + 1), x - 1.0f, y - 1.0f), u), v);
}

extern "C" __global__ void perlin(const unsigned char* __restrict__ table, size_t table_len, unsigned octaves, float scale,
                                  float* __restrict__ out, unsigned rows, unsigned columns, unsigned stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) return;
    float x = column * scale, y = row * scale, sum = 0.0f, weight = 1.0f;
    for (int octave = 0; octave < octaves; octave++) {
        sum += weight * noise(table, x, y);
        x *= 2.0f;
        y *= 2.0f;
        weight *= 0.5f;
    }
    out[(size_t)row * stride + column] = sum;
}
