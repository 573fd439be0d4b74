// Takes the way through node k where it is shorter.
extern "C" __global__ void floyd_warshall(unsigned* distances, size_t n, size_t k) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < n) {
        const unsigned through = distances[row * n + k] + distances[k * n + column];
        if (through < distances[row * n + column]) distances[row * n + column] = through;
    }
}
