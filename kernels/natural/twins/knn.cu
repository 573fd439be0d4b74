// The names of the six nearest points of each query, the nearest one first; of equally near ones the first.
extern "C" __global__ void knn(const int (*__restrict__ points)[3], size_t points_len, const int (*__restrict__ queries)[3],
                               size_t queries_len, unsigned (*__restrict__ names)[6], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int x = queries[i][0], y = queries[i][1], z = queries[i][2];
    unsigned distances[6], found[6];
    for (int j = 0; j < 6; j++) {
        distances[j] = 0xffffffff;
        found[j] = 0xffffffff;
    }
    for (int name = 0; name < points_len; name++) {
        const int dx = points[name][0] - x, dy = points[name][1] - y, dz = points[name][2] - z;
        const unsigned distance = dx * dx + dy * dy + dz * dz;
        if (distance >= distances[5]) continue;
        int place = 5;
        while (place > 0 && distances[place - 1] > distance) {
            distances[place] = distances[place - 1];
            found[place] = found[place - 1];
            place--;
        }
        distances[place] = distance;
        found[place] = name;
    }
    for (int j = 0; j < 6; j++) names[i][j] = found[j];
}
