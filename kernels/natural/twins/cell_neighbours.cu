// How many other points lie within a radius of each; those of cell c are from starts[c] to starts[c + 1].
extern "C" __global__ void cell_neighbours(const int2* __restrict__ points, size_t points_len, const unsigned* __restrict__ starts,
                                           size_t starts_len, size_t columns, int radius, unsigned* __restrict__ counts, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int2 point = points[i];
    const int width = columns, rows = (int)(starts_len - 1) / width;
    const int column = point.x / radius, row = point.y / radius;
    unsigned count = 0;
    for (int r = max(row - 1, 0); r <= min(row + 1, rows - 1); r++) {
        for (int c = max(column - 1, 0); c <= min(column + 1, width - 1); c++) {
            const int cell = r * width + c;
            const int end = starts[cell + 1];
            for (int other = starts[cell]; other < end; other++) {
                const int dx = points[other].x - point.x, dy = points[other].y - point.y;
                if (other != i && dx * dx + dy * dy <= radius * radius) count++;
            }
        }
    }
    counts[i] = count;
}
