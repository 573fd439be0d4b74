// How many points are at most radius away from each query, by a tree of boxes.
struct Node {
    float low[3];
    unsigned first;
    float high[3];
    unsigned count;
};

static __device__ float to_box(const Node& node, const float* point) {
    float sum = 0.0f;
    for (int axis = 0; axis < 3; axis++) {
        const float d = point[axis] - fminf(fmaxf(point[axis], node.low[axis]), node.high[axis]);
        sum += d * d;
    }
    return sum;
}

static __device__ float distance(const float* a, const float* b) {
    float sum = 0.0f;
    for (int axis = 0; axis < 3; axis++) sum += (a[axis] - b[axis]) * (a[axis] - b[axis]);
    return sum;
}

extern "C" __global__ void bvh_count(const Node* __restrict__ nodes, size_t nodes_len, const float (*__restrict__ points)[3],
                                     size_t points_len, const float (*__restrict__ queries)[3], size_t queries_len, float radius,
                                     unsigned* __restrict__ counts, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float query[3] = {queries[i][0], queries[i][1], queries[i][2]};
    const float limit = radius * radius;
    unsigned stack[32];
    stack[0] = 0;
    int depth = 1;
    unsigned found = 0;
    while (depth > 0) {
        const Node& node = nodes[stack[--depth]];
        if (to_box(node, query) > limit) continue;
        if (node.count == 0) {
            stack[depth++] = node.first;
            stack[depth++] = node.first + 1;
        } else {
            for (unsigned at = node.first; at < node.first + node.count; at++) {
                if (distance(points[at], query) <= limit) found++;
            }
        }
    }
    counts[i] = found;
}
