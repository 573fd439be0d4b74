// An edge with the node it leads to and its length is edges[i]; starts says where those of a node begin. Nodes get shorter ways to them
// from distances in shorter, and changed says whether there was any.
extern "C" __global__ void relax_edges(const unsigned* __restrict__ starts, size_t starts_len, const uint2* __restrict__ edges,
                                       size_t edges_len, const unsigned* __restrict__ distances, size_t nodes, unsigned* changed,
                                       size_t changed_len, unsigned* shorter, size_t shorter_len) {
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;
    const unsigned distance = distances[node];
    if (distance == 0xffffffff) return;
    for (int i = starts[node]; i < starts[node + 1]; i++) {
        const uint2 edge = edges[i];
        const unsigned through = distance + edge.y;
        if (through < distances[edge.x]) {
            atomicMin(&shorter[edge.x], through);
            changed[0] = 1;
        }
    }
}
