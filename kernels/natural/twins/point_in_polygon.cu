// The first polygon that each point is in, or 0xffffffff, a thread a point. Polygon i has the corners from starts[i] to starts[i + 1], of
// which the last is the first again.
static __device__ bool is_inside(float2 point, const float2* __restrict__ corners, int begin, int end) {
    bool inside = false;
    for (int i = begin; i + 1 < end; i++) {
        const float2 a = corners[i], b = corners[i + 1];
        if ((a.y > point.y) != (b.y > point.y)) {
            const float side = (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x);
            if (b.y > a.y ? side > 0.0f : side < 0.0f) inside = !inside;
        }
    }
    return inside;
}

extern "C" __global__ void point_in_polygon(const float2* __restrict__ points, size_t points_len, const float2* __restrict__ corners,
                                            size_t corners_len, const unsigned* __restrict__ starts, size_t starts_len,
                                            unsigned* __restrict__ found, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float2 point = points[i];
    unsigned polygon = 0xffffffff;
    for (int j = 0; j + 1 < starts_len; j++) {
        if (is_inside(point, corners, starts[j], starts[j + 1])) {
            polygon = j;
            break;
        }
    }
    found[i] = polygon;
}
