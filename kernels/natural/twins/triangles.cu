// How many triangles each edge is a part of; the neighbours of each node are sorted.
extern "C" __global__ void triangles(const unsigned* __restrict__ starts, size_t starts_len, const unsigned* __restrict__ neighbours,
                                     size_t neighbours_len, const unsigned (*__restrict__ edges)[2], size_t edges_len,
                                     unsigned* __restrict__ counts, size_t n) {
    const int edge = blockIdx.x * blockDim.x + threadIdx.x;
    if (edge >= n) return;
    const unsigned from = edges[edge][0], to = edges[edge][1];
    int i = starts[from], j = starts[to];
    const int i_end = starts[from + 1], j_end = starts[to + 1];
    unsigned count = 0;
    while (i < i_end && j < j_end) {
        const unsigned a = neighbours[i], b = neighbours[j];
        if (a < b) {
            i++;
        } else if (a > b) {
            j++;
        } else {
            count++;
            i++;
            j++;
        }
    }
    counts[edge] = count;
}
