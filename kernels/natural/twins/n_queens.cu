// How many ways there are to complete each board with rows more queens; a start is what the queens of the first rows threaten.
struct Row {
    unsigned columns, left, right, free;
};

extern "C" __global__ void n_queens(const unsigned (*__restrict__ starts)[3], size_t starts_len, unsigned size, size_t rows,
                                    unsigned* __restrict__ counts, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned all = (1u << size) - 1;
    Row stack[20];
    stack[0].columns = starts[i][0];
    stack[0].left = starts[i][1];
    stack[0].right = starts[i][2];
    stack[0].free = all & ~(starts[i][0] | starts[i][1] | starts[i][2]);
    int depth = 0;
    unsigned count = 0;
    while (depth >= 0) {
        Row& row = stack[depth];
        if (row.free == 0) {
            depth--;
            continue;
        }
        const unsigned queen = row.free & -row.free;
        row.free ^= queen;
        if (depth + 1 == rows) {
            count++;
            continue;
        }
        Row& next = stack[++depth];
        next.columns = row.columns | queen;
        next.left = (row.left | queen) << 1;
        next.right = (row.right | queen) >> 1;
        next.free = all & ~(next.columns | next.left | next.right);
    }
    counts[i] = count;
}
