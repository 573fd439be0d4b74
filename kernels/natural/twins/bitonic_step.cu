// Exchanges the keys that are distance apart and in the wrong order within runs of size.
extern "C" __global__ void bitonic_step(unsigned* keys, size_t n, size_t distance, size_t size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = i ^ (int)distance;
    if (i < n && j > i) {
        const unsigned a = keys[i], b = keys[j];
        if ((a > b) == ((i & (int)size) == 0)) {
            keys[i] = b;
            keys[j] = a;
        }
    }
}
