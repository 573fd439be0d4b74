// How often each point of a picture can be squared before it leaves the circle; the picture begins at (x, y).
extern "C" __global__ void mandelbrot(float x, float y, float step, unsigned limit, unsigned* __restrict__ out, unsigned rows,
                                      unsigned columns, unsigned stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) return;
    const float cx = x + column * step, cy = y + row * step;
    float zx = 0.0f, zy = 0.0f;
    unsigned count = 0;
    while (count < limit && zx * zx + zy * zy < 4.0f) {
        const float next = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = next;
        count++;
    }
    out[(size_t)row * stride + column] = count;
}
