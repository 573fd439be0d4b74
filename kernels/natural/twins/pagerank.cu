// The new rank of each page, from the ranks of those that link to it.
extern "C" __global__ void pagerank(const unsigned* __restrict__ starts, size_t starts_len, const unsigned* __restrict__ sources,
                                    size_t sources_len, const float* __restrict__ ranks, size_t ranks_len,
                                    const unsigned* __restrict__ degrees, size_t degrees_len, float damping, float* __restrict__ next,
                                    size_t pages) {
    const int page = blockIdx.x * blockDim.x + threadIdx.x;
    if (page >= pages) return;
    const int end = starts[page + 1];
    float sum = 0.0f;
    for (int i = starts[page]; i < end; i++) sum += ranks[sources[i]] / degrees[sources[i]];
    next[page] = (1.0f - damping) / pages + damping * sum;
}
