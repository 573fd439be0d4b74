// The name of the point that is nearest to each query, by a tree whose node i has children at 2 i + 1 and 2 i + 2.
struct Point {
    float at[3];
    unsigned name;
};

struct Entry {
    int node;
    float bound;
};

extern "C" __global__ void kd_nearest(const Point* __restrict__ tree, size_t points, const float (*__restrict__ queries)[3],
                                      size_t queries_len, unsigned* __restrict__ nearest, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float query[3] = {queries[i][0], queries[i][1], queries[i][2]};
    const int count = points;
    unsigned name = 0xffffffff;
    float least = INFINITY;
    Entry stack[32];
    stack[0].node = 0;
    stack[0].bound = 0.0f;
    int depth = 1;
    while (depth > 0) {
        const Entry entry = stack[--depth];
        if (entry.bound >= least) continue;
        int node = entry.node;
        while (node < count) {
            const Point& point = tree[node];
            float distance = 0.0f;
            for (int j = 0; j < 3; j++) distance += (point.at[j] - query[j]) * (point.at[j] - query[j]);
            if (distance < least) {
                least = distance;
                name = point.name;
            }
            const int axis = (31 - __clz(node + 1)) % 3;
            const float offset = (axis == 0 ? query[0] : axis == 1 ? query[1] : query[2]) - point.at[axis];
            const int near = offset < 0.0f ? 2 * node + 1 : 2 * node + 2;
            const int far = offset < 0.0f ? 2 * node + 2 : 2 * node + 1;
            if (far < count && offset * offset < least) {
                stack[depth].node = far;
                stack[depth].bound = offset * offset;
                depth++;
            }
            node = near;
        }
    }
    nearest[i] = name;
}
