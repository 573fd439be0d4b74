// The new label of each node: the least one of itself and its neighbours, or what the node of that number has for a label, which is no
// larger. changed says whether any label is a new one.
extern "C" __global__ void label_components(const unsigned* __restrict__ starts, size_t starts_len, const unsigned* __restrict__ neighbours,
                                            size_t neighbours_len, const unsigned* __restrict__ labels, size_t labels_len,
                                            unsigned* changed, size_t changed_len, unsigned* __restrict__ next, size_t n) {
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n) return;
    const unsigned own = labels[node];
    unsigned label = own;
    const int end = starts[node + 1];
    for (int i = starts[node]; i < end; i++) label = min(label, labels[neighbours[i]]);
    label = labels[label];
    next[node] = label;
    if (label != own) changed[0] = 1;
}
