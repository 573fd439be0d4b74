// Joins the trees of the two nodes of each edge. The parent of a node is no larger than it; a root is its own.
static __device__ unsigned find_root(unsigned* parents, unsigned node) {
    while (true) {
        const unsigned parent = *(volatile unsigned*)&parents[node];
        if (parent == node) return node;
        const unsigned grandparent = *(volatile unsigned*)&parents[parent];
        if (grandparent != parent) atomicMin(&parents[node], grandparent);
        node = parent;
    }
}

extern "C" __global__ void union_find(const uint2* __restrict__ edges, size_t n, unsigned* parents, size_t nodes) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = find_root(parents, edges[i].x), b = find_root(parents, edges[i].y);
    while (a != b) {
        const unsigned low = min(a, b), high = max(a, b);
        const unsigned before = atomicCAS(&parents[high], high, low);
        if (before == high) break;
        a = find_root(parents, before);
        b = find_root(parents, low);
    }
}
