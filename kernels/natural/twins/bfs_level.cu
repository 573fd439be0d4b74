// Gives the neighbours of the nodes of level depth that were not reached yet the next level.
extern "C" __global__ void bfs_level(const unsigned* __restrict__ starts, size_t starts_len, const unsigned* __restrict__ neighbours,
                                     size_t neighbours_len, unsigned depth, unsigned* levels, size_t nodes) {
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes && levels[node] == depth) {
        for (int i = starts[node]; i < starts[node + 1]; i++) {
            const unsigned neighbour = neighbours[i];
            if (levels[neighbour] == 0xffffffff) levels[neighbour] = depth + 1;
        }
    }
}
