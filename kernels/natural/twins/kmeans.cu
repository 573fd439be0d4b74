// The centre that is nearest to each point.
extern "C" __global__ void kmeans(const float (*__restrict__ points)[4], size_t points_len, const float (*__restrict__ centres)[4],
                                  size_t centres_len, unsigned* __restrict__ nearest, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float least = INFINITY;
    for (int number = 0; number < centres_len; number++) {
        float distance = 0.0f;
        for (int j = 0; j < 4; j++) {
            const float difference = points[i][j] - centres[number][j];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            nearest[i] = number;
        }
    }
}
