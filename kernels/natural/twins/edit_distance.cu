// The edit distance of each pair of words of 32 letters.
extern "C" __global__ void edit_distance(const unsigned char (*__restrict__ first)[32], size_t first_len,
                                         const unsigned char (*__restrict__ second)[32], size_t second_len,
                                         unsigned* __restrict__ distances, size_t n) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= n) return;
    unsigned row[33];
    for (int j = 0; j <= 32; j++) row[j] = j;
    for (int i = 0; i < 32; i++) {
        const unsigned char a = first[pair][i];
        unsigned diagonal = row[0];
        row[0] = i + 1;
        for (int j = 0; j < 32; j++) {
            const unsigned above = row[j + 1];
            const unsigned exchanged = diagonal + (a != second[pair][j]);
            row[j + 1] = min(exchanged, min(above + 1, row[j] + 1));
            diagonal = above;
        }
    }
    distances[pair] = row[32];
}
